// Warnings for fields that were given and have no effect. An API server can't warn.

#include <algorithm>

#include "base/text.h"
#include "job/fields.h"
#include "job/models.h"
#include "job/rule.h"
#include "job/strategies.h"

namespace atl {
namespace {

/// Fields that another field's value makes meaningless, by the table's used_with.
void unused_fields(const Check& c) {
  Job job = c.job;
  const auto fields = fields_for(c.job.model.kind, c.job.strategy.row->kind);
  for (const Field* field : fields) {
    if (field->used_with.path.empty() || !c.has(field->path)) continue;
    const Field* other = find_field(fields, field->used_with.path);
    const std::string value = value_text(*other, job);
    const auto& wanted = field->used_with.values;
    if (std::find(wanted.begin(), wanted.end(), value) != wanted.end()) continue;
    const std::string given = value.empty() ? "without " + other->path : "with " + other->path + " " + value;
    c.warning(field->path, "has no effect {} (it needs {}: {})", given, other->path, joined(wanted, " or "));
  }
  const auto& input = c.job.training.input_dropout;
  if (c.has("training.inputDropout.position") && input.rate == 0) {
    c.warning("training.inputDropout.position", "has no effect with training.inputDropout.rate 0");
  }
}

/// Fields that the chosen model doesn't read.
void ignored_by_model(const Check& c) {
  const ModelInfo* model = find_model(c.job.model.kind);
  for (const auto& path : model ? model->ignores : std::vector<std::string>{}) {
    // Pairs are scored from the last layer's rows, which have model.hidden columns for every model.
    if (path == "model.hidden" && c.job.task == Task::kLinkPrediction) continue;
    if (c.has(path)) c.warning(path, "has no effect with model {}", model->kind);
  }
}

/// Rows stored in 16 bits travel in 16 bits anyway.
void rounded_anyway(const Check& c) {
  if (c.job.strategy.wire == Precision::kFloat32) return;
  if (c.job.placement.ranks == 1)
    c.warning("strategy.wire", "has no effect on one rank");
  else if (c.job.training.precision == Precision::kBFloat16)
    c.warning("strategy.wire", "has no effect with training.precision bfloat16, whose rows have 16 bits");
}

}  // namespace

std::vector<Rule> unused_rules() {
  return {{unused_fields}, {ignored_by_model}, {rounded_anyway}};
}

}  // namespace atl
