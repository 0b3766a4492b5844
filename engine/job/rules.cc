// How fields depend on each other: what is required, what excludes what, what is ignored.
#include "job/rule.h"

#include <algorithm>
#include <iterator>

#include "job/api_names.h"
#include "job/fields.h"
#include "job/read.h"

namespace atl {
namespace {

/// A required field must be given where the object around it is.
void required_fields(const Check& c) {
  for (const Field* field : fields_for(c.job.model.kind, c.job.strategy.kind)) {
    if (!field->required || c.has(field->path)) continue;
    const std::string parent = field_parent(field->path);
    const bool metadata = parent == "metadata";
    if (!metadata && !c.has(parent)) continue;
    if (field->example.empty()) {
      c.error(field->path, "is required (use {})", allowed_text(*field));
    } else {
      c.error(field->path, "is required, for example {}", field->example);
    }
  }
}

bool is_letter_or_digit(char ch) {
  return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9');
}

/// Whether it is a name by Kubernetes' RFC 1123: parts between dots, with '-' only inside them.
bool is_name(const std::string& name) {
  if (name.empty() || name.size() > std::size_t(kLongestJobName)) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool first = i == 0 || name[i - 1] == '.', last = i + 1 == name.size() || name[i + 1] == '.';
    const bool inside = name[i] == '-' && !first && !last,
               dot = name[i] == '.' && !first && i + 1 < name.size();
    if (!is_letter_or_digit(name[i]) && !inside && !dot) return false;
  }
  return true;
}

void job_name(const Check& c) {
  const std::string& name = c.job.name;
  if (!c.has("metadata.name") || (name.empty() && !c.problems.errors.empty())) return;  // already reported
  if (!is_name(name))
    c.error("metadata.name",
            "'{}' is not allowed (use lower case letters, digits, '-' and '.', at most {} characters)", name,
            kLongestJobName);
}

std::vector<Rule> join_parts() {
  std::vector<Rule> all;
  for (auto* part : {dataset_rules, placement_rules, training_rules, link_rules, strategy_rules, output_rules,
                     unused_rules}) {
    std::ranges::move(part(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = join_parts();
  return rules;
}

void check_rules(const Job& job, const Given& given, Problems& problems) {
  const Check check{job, given, problems};
  required_fields(check);
  job_name(check);
  for (const Rule& rule : all_rules()) rule.check(check);
}

}  // namespace atl
