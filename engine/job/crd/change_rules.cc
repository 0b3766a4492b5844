// The rules of change follow from Field::mutability: a section that never changes is compared as a whole, one that
// changes in parts field by field. Comparing whole sections also sees what was added or taken away.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "job/crd/server_defaults.h"
#include "job/crd/server_rules.h"
#include "job/fields.h"

namespace atl {
namespace {

/// spec.resources is what it was. `name` has no character that CEL wants escaped.
std::string is_unchanged(const std::string& name) {
  return fmt::format(
      "has(self.spec.{0}) == has(oldSelf.spec.{0}) && (!has(self.spec.{0}) || self.spec.{0} == "
      "oldSelf.spec.{0})",
      name);
}

/// The operator says Suspended once the last pod is gone.
const char* const kIsSuspended =
    "oldSelf.spec.runPolicy.suspend && has(oldSelf.status) && has(oldSelf.status.conditions) && "
    "oldSelf.status.conditions.exists(c, c.type == 'Suspended' && c.status == 'True')";

ServerRule change_rule(const Field& field) {
  const std::string path = "spec." + field.path;
  if (field.mutability == Mutability::kNever)
    return {"", path, is_unchanged(field.path), "can't be changed once the job exists (create another job)"};
  return {
      "", path, is_unchanged(field.path) + " || " + kIsSuspended,
      "can only be changed while the job is suspended and its pods are gone (set runPolicy.suspend and wait for "
      "the condition Suspended)"};
}

/// The rows of one section that change when the section as a whole doesn't: runPolicy.suspend.
bool changes_in_parts(const std::vector<const Field*>& members) {
  return std::ranges::any_of(members, [](const Field* f) { return f->mutability != Mutability::kNever; });
}

}  // namespace

std::vector<ServerRule> change_rules() {
  const auto fields = fields_for("", "");
  std::vector<ServerRule> rules;
  for (const Field* section : children_of(fields, "")) {
    const auto members = children_of(fields, section->path);
    if (!changes_in_parts(members)) {
      rules.push_back(change_rule(*section));
      continue;
    }
    ATOLL_CHECK(is_object_defaulted(*section), "{}: not a section that is always there", section->path);
    for (const Field* member : members) {
      if (member->mutability != Mutability::kAlways) rules.push_back(change_rule(*member));
    }
  }
  return rules;
}

}  // namespace atl
