// Which defaults the API server fills in. A stored job then keeps its meaning when a later release has other
// defaults, and the columns of `kubectl get` have values. The filled-in manifest must resolve to the same job
// as the original, without further warnings.
#include "job/crd/crd.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "job/explain.h"
#include "job/fields.h"
#include "job/models.h"

namespace atl {
namespace {

/// Whether some model doesn't read the field, and warns where it is given.
bool is_ignored_by_a_model(const std::string& path) {
  return std::ranges::any_of(model_infos(), [&](const ModelInfo& info) {
    return std::ranges::find(info.ignores, path) != info.ignores.end();
  });
}

}  // namespace

bool is_defaulted(const Field& field) {
  return field.of_kind.empty() && field.used_with.path.empty() && !is_ignored_by_a_model(field.path) &&
         !default_json(field).is_null();
}

bool is_object_defaulted(const Field& object) {
  if (object.type != FieldType::kObject || object.required || !object.of_kind.empty() ||
      !object.shorthand.empty())
    return false;
  bool has_default = false;
  for (const Field& field : all_fields()) {
    if (field_parent(field.path) != object.path) continue;
    if (field.required) return false;
    has_default = has_default || is_defaulted(field);
  }
  return has_default;
}

}  // namespace atl
