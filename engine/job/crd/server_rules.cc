// All rules in CEL: those that stand beside the engine's rules (rules/), and those that follow from the field
// table.
#include "job/crd/crd.h"

#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "job/fields.h"
#include "job/models.h"
#include "job/read.h"
#include "job/rule.h"
#include "job/strategies.h"

namespace atl {
namespace {

/// A list in CEL: "['a', 'b']".
std::string cel_list(const std::vector<std::string>& words) {
  return "['" + joined(words, "', '") + "']";
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

/// Adds the rule that only models that have the option may be given it.
void add_owner(const Field& option, std::vector<ServerRule>& rules) {
  const std::string name = field_name(option.path),
                    given = "has(self.options) && has(self.options." + name + ")";
  rules.push_back({"model", "options." + name,
                   "!(" + given + ") || self.kind in " + cel_list(models_with_option(option.path)), "",
                   "'" + option_of_another(owners_of(option.path), "' + self.kind + '") + "'"});
}

/// Adds the rule that a model's option has one of the model's own choices. Other models may have an option of
/// this name with other choices.
void add_choices(const Field& option, std::vector<ServerRule>& rules) {
  std::vector<std::string> names;
  for (const auto& choice : option.choices) names.push_back(choice.name);
  const std::string value = "self.options." + field_name(option.path);
  rules.push_back({"model", "options." + field_name(option.path),
                   "self.kind != '" + option.of_kind + "' || !has(self.options) || !has(" + value + ") || " +
                       value + " in " + cel_list(names),
                   "", fmt::format("\"'\" + {} + \"' is unknown (known: {})\"", value, joined(names, ", "))});
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

nlohmann::ordered_json rule_json(const ServerRule& rule) {
  nlohmann::ordered_json json{{"rule", rule.right}};
  if (!rule.field.empty()) json["fieldPath"] = "." + rule.field;
  if (!rule.message.empty()) json["message"] = rule.message;
  if (!rule.message_expression.empty()) json["messageExpression"] = rule.message_expression;
  return json;
}

// The rules of change follow from Field::mutability. A section that never changes is compared as a whole,
// which also shows what was added or removed; one that changes in parts is compared field by field.

namespace {

/// Whether a section of spec is unchanged. `name` has no character that needs escaping in CEL.
std::string is_unchanged(const std::string& name) {
  return fmt::format(
      "has(self.spec.{0}) == has(oldSelf.spec.{0}) && (!has(self.spec.{0}) || self.spec.{0} == "
      "oldSelf.spec.{0})",
      name);
}

/// The operator sets Suspended once the last pod is gone.
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

/// Whether some fields of a section may change although the section as a whole may not, as runPolicy.suspend
/// may.
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
