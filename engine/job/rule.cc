#include "job/rule.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "job/api_names.h"
#include "job/field.h"
#include "job/fields.h"
#include "job/read.h"
#include "job/strategies.h"

namespace atl {

std::string where_of(const Given& given, const std::string& path) {
  for (std::string at = path;; at = field_parent(at)) {
    if (const auto found = given.find(at); found != given.end()) return found->second;
    if (at.empty()) return "manifest";
  }
}

bool is_wished(const Check& c, const Field& option) {
  return c.has(option.path) && c.job.strategy.options.values().at(option_name(option)) != option.initial;
}

void warn_without_effect(const Check& c, const std::string& path, const std::string& why) {
  const StrategyInfo& strategy = *c.job.strategy.row;
  const auto option = std::ranges::find(strategy.options, path, &Field::path);
  ATOLL_CHECK(option != strategy.options.end(), "{} has no option {}", strategy.kind, path);
  if (is_wished(c, *option)) c.warning(path, "has no effect {}", why);
}

void warn_of_one_rank(const Check& c, const std::string& other) {
  if (c.job.placement.ranks == 1)
    c.warning("strategy.kind",
              "{} on one rank is {}: nothing is another rank's (use {}, or more placement.ranks)",
              c.job.strategy.row->kind, other, other);
}

// Rules on how fields depend on each other: which are required, which exclude each other, which are ignored.

namespace {

/// Refuses a job without a required field where the object around the field is given.
void required_fields(const Check& c) {
  for (const Field* field : fields_for(c.job.model.kind, c.job.strategy.row->kind)) {
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

std::vector<Rule> join_rules() {
  std::vector<Rule> all;
  for (auto* part : {dataset_rules, placement_rules, training_rules, link_rules, strategy_rules, output_rules,
                     unused_rules}) {
    std::ranges::move(part(), std::back_inserter(all));
  }
  return all;
}

}  // namespace

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = join_rules();
  return rules;
}

void check_rules(const Job& job, const Given& given, Problems& problems) {
  const Check check{job, given, problems};
  required_fields(check);
  job_name(check);
  for (const Rule& rule : all_rules()) rule.check(check);
}

// The rules of `strategy`: each strategy's own, from its row, and those for all.

namespace {

/// Only strategies that draw by vertex may have several parts per rank.
void parts_for_ranks(const Check& c) {
  const int parts = c.job.placement.partitioner.parts, ranks = c.job.placement.ranks;
  const StrategyInfo& strategy = *c.job.strategy.row;
  if (parts == 0 || parts == ranks) return;
  if (!strategy.several_parts)
    c.error("placement.partitioner.parts",
            "{} parts for {} ranks, and strategy {} has one a rank (leave it out)", parts, ranks,
            strategy.kind);
  else if (parts < ranks)
    c.error("placement.partitioner.parts", "{} parts for {} ranks (use at least one a rank)", parts, ranks);
}

void own_rules(const Check& c) {
  for (const Rule& rule : c.job.strategy.row->rules) rule.check(c);
}

}  // namespace

std::vector<Rule> strategy_rules() {
  Rule own{own_rules};
  for (const StrategyInfo& info : strategy_infos())
    for (const Rule& rule : info.rules) std::ranges::copy(rule.server, std::back_inserter(own.server));
  return {{parts_for_ranks}, std::move(own)};
}

}  // namespace atl
