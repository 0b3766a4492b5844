#include "job/crd/server_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/error.h"
#include "job/assign.h"
#include "job/fields.h"
#include "job/models.h"
#include "job/rules.h"
#include "job/strategies.h"

namespace atl {
namespace {

/// ['a', 'b']
std::string cel_list(const std::vector<std::string>& words) {
  return "['" + fmt::format("{}", fmt::join(words, "', '")) + "']";
}

/// The range of an integer that may be written as a quantity.
void add_range(const Field& field, std::vector<ServerRule>& rules) {
  if (field.type != FieldType::kCount) return;
  ATOLL_CHECK(!field.above_minimum && !field.below_maximum, "{}: an open range of counts", field.path);
  const auto low = std::int64_t(field.minimum), high = std::int64_t(field.maximum);
  rules.push_back(
      {field.path, "",
       fmt::format(
           "type(self) == int ? self >= {0} && self <= {1} : isQuantity(self) && quantity(self).isInteger() && "
           "quantity(self).asInteger() >= {0} && quantity(self).asInteger() <= {1}",
           low, high),
       "is not allowed (use " + allowed_text(field) + ")"});
}

void add_blocks(std::vector<ServerRule>& rules) {
  for (const auto& info : strategy_infos()) {
    if (!has_block(info)) continue;
    rules.push_back({"strategy", info.kind,
                     "!has(self." + info.kind + ") || self.kind == '" + info.kind + "'", "",
                     "'" + block_of_another("' + self.kind + '") + "'"});
  }
}

/// An option of a model is that model's alone …
void add_owner(const Field& option, std::vector<ServerRule>& rules) {
  const std::string name = field_name(option.path),
                    given = "has(self.options) && has(self.options." + name + ")";
  rules.push_back({"model", "options." + name,
                   "!(" + given + ") || self.kind in " + cel_list(models_with_option(option.path)), "",
                   "'" + option_of_another(owners_of(option.path), "' + self.kind + '") + "'"});
}

/// … and where several have one of the same name, its choices are the model's.
void add_choices(const Field& option, std::vector<ServerRule>& rules) {
  std::vector<std::string> names;
  for (const auto& choice : option.choices) names.push_back(choice.name);
  const std::string value = "self.options." + field_name(option.path);
  rules.push_back({"model", "options." + field_name(option.path),
                   "self.kind != '" + option.of_kind + "' || !has(self.options) || !has(" + value + ") || " +
                       value + " in " + cel_list(names),
                   "",
                   fmt::format("\"'\" + {} + \"' is unknown (known: {})\"", value, fmt::join(names, ", "))});
}

void add_options(std::vector<ServerRule>& rules) {
  std::set<std::string> seen;
  for (const auto& info : model_infos()) {
    for (const Field& option : info.options) {
      if (seen.insert(option.path).second) add_owner(option, rules);
      if (!option.choices.empty()) add_choices(option, rules);
    }
  }
}

}  // namespace

std::vector<ServerRule> server_rules() {
  std::vector<ServerRule> rules;
  for (const Rule& rule : all_rules()) std::ranges::copy(rule.server, std::back_inserter(rules));
  for (const Field& field : all_fields()) {
    add_range(field, rules);
  }
  add_blocks(rules);
  add_options(rules);
  return rules;
}

}  // namespace atl
