// Writes a Job as the text of a manifest, and as keys that say whether two jobs are the same.
#include "job/load.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "job/fields.h"
#include "job/strategies.h"

namespace atl {
namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A value as YAML. Texts are quoted, so that no parser takes them for another type.
std::string yaml_value(const Field& field, Job& job) {
  const std::string text = value_text(field, job);
  return field.type == FieldType::kText ? quoted(text) : text;
}

/// Whether the field has no value to write: none was given, and the default isn't a constant.
bool is_open(const Field& field, Job& job) {
  const std::string text = value_text(field, job);
  if (text.empty() || text == "[]") return true;
  Job defaults;
  return !field.default_text.empty() && !field.initial && text == value_text(field, defaults);
}

bool has_content(const std::vector<const Field*>& fields, const Field& field, Job& job) {
  if (field.type != FieldType::kObject) return !is_open(field, job);
  // dataset.synthetic is written where its kind is given.
  if (field.path == "dataset.synthetic") return !job.dataset.synthetic.kind.empty();
  const auto children = children_of(fields, field.path);
  // With another task nothing reads linkPrediction, so it is written only where it was given.
  if (field.path == "linkPrediction" && job.task != Task::kLinkPrediction)
    return std::ranges::any_of(children, [&](const Field* child) { return !is_default(*child, job); });
  return std::ranges::any_of(children, [&](const Field* child) { return has_content(fields, *child, job); });
}

void write_children(const std::vector<const Field*>& fields, const std::string& path, int indent, Job& job,
                    std::string& out) {
  for (const Field* field : children_of(fields, path)) {
    if (!has_content(fields, *field, job)) continue;
    out += std::string(std::size_t(indent), ' ') + field_name(field->path) + ":";
    if (field->type == FieldType::kObject) {
      out += "\n";
      write_children(fields, field->path, indent + 2, job, out);
    } else {
      out += " " + yaml_value(*field, job) + "\n";
    }
  }
}

bool fixed_on_resume(const Field& field) {
  return field.slot && !field.may_change && field.path != "metadata.name";
}

/// Whether two different values mean the same: a default, and the number of slices that it stands for.
bool means_the_same(const Field& field, const Job& before, const Job& now) {
  const StrategyInfo& strategy = *now.strategy.row;
  const JobDivision then = strategy.division(before), here = strategy.division(now);
  return field.path == here.slices_field && then.slices == here.slices;
}

}  // namespace

std::string write_job(const Job& job) {
  Job copy = job;
  std::string out = "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\n";
  out += "metadata: " + (job.metadata.empty() ? "{\"name\": " + quoted(job.name) + "}" : job.metadata) +
         "\nspec:\n";
  write_children(fields_for(job.model.kind, job.strategy.row->kind), "", 2, copy, out);
  return out;
}

std::string key_of(const Job& job, const std::function<bool(const Field&)>& counts) {
  Job copy = job;
  std::string key;
  for (const Field* field : fields_for(job.model.kind, job.strategy.row->kind)) {
    if (!field->slot || !counts(*field) || is_default(*field, copy)) continue;
    key += field->path + ": " + value_text(*field, copy) + "\n";
  }
  return key;
}

std::string resume_key(const Job& job) {
  return key_of(job, fixed_on_resume);
}

std::vector<std::string> changes_that_forbid_resuming(const Job& before, const Job& now) {
  Job a = before, b = now;
  std::vector<std::string> changes;
  for (const char* kind : {"model.kind", "strategy.kind"}) {
    const Field* field = find_field(fields_for("", ""), kind);
    const std::string was = value_text(*field, a), is = value_text(*field, b);
    if (was != is) changes.push_back(fmt::format("{}: {} → {}", kind, was, is));
  }
  if (!changes.empty()) return changes;  // the options of different kinds can't be compared
  for (const Field* field : fields_for(now.model.kind, now.strategy.row->kind)) {
    if (!fixed_on_resume(*field)) continue;
    const std::string was = value_text(*field, a), is = value_text(*field, b);
    if (was != is && !means_the_same(*field, a, b))
      changes.push_back(fmt::format("{}: {} → {}", field->path, was, is));
  }
  return changes;
}

}  // namespace atl
