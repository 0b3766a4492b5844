// One rule of how fields depend on each other, in both places where it is judged: in C++ over a Job that was
// read from a file, and in CEL over the object that the API server is given. Both halves stand in one row,
// and tests/data/manifest/refused.json runs the same manifests through both.
#pragma once

#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "job/field.h"
#include "job/job.h"

namespace atl {

// What is wrong with a manifest: collected, so that a user sees everything at once.

struct Problems {
  std::vector<std::string> errors,
      warnings;  // "gnnjob.yaml:14: field: …", in the order in which they were found

  void error(const std::string& where, const std::string& path, const std::string& text) {
    errors.push_back(where + ": " + path + ": " + text);
  }
  void warning(const std::string& where, const std::string& path, const std::string& text) {
    warnings.push_back(where + ": " + path + ": " + text);
  }
};

/// Where each field was given: path → "gnnjob.yaml:14". Fields with their default are absent.
using Given = std::map<std::string, std::string>;

/// The location of a field, or of the nearest object around it that was given, or of the manifest.
std::string where_of(const Given& given, const std::string& path);

/// What every rule reads and writes.
struct Check {
  const Job& job;
  const Given& given;
  Problems& problems;

  bool has(const std::string& path) const { return given.contains(path); }

  template <class... Args>
  void error(const std::string& path, fmt::format_string<Args...> format, Args&&... args) const {
    problems.error(where_of(given, path), path, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warning(const std::string& path, fmt::format_string<Args...> format, Args&&... args) const {
    problems.warning(where_of(given, path), path, fmt::format(format, std::forward<Args>(args)...));
  }
};

/// A rule in the Common Expression Language. It must say has() of every field it reads, of those with a
/// default too: the server judges the `default: {}` of a section before it fills that in. Fields that may be
/// one scalar instead of a map (Field::shorthand) and what is in them can't be seen.
struct ServerRule {
  std::string scope;  // path of the value that `right` calls self: "placement"; "" = spec
  std::string field;  // below the scope, what the message is about: "ranksPerServer"; "" = the scope itself
  std::string right;  // true where the manifest is right
  std::string message{};             // what to do otherwise, in the engine's words …
  std::string message_expression{};  // … or CEL that makes them
};

struct Rule {
  void (*check)(const Check&);
  std::vector<ServerRule> server{};  // none: CEL can't express it, and the operator alone tells
};

// The rules, one file a section of the manifest.
std::vector<Rule> dataset_rules();
std::vector<Rule> placement_rules();
std::vector<Rule> training_rules();
std::vector<Rule> link_rules();
std::vector<Rule> strategy_rules();
std::vector<Rule> output_rules();
std::vector<Rule> unused_rules();  // warnings alone

/// A folder below another one: relative, and no way out of it; in both languages.
bool stays_inside(const std::string& path);
std::string stays_inside_in_cel(const std::string& value);

// Options of a strategy that were given and do nothing: what a rule needs to say so.

/// A resolved manifest has every option, so that the default of one is no wish for it.
bool is_wished(const Check& check, const Field& option);

/// Warns where the option is wished for. path: of one of the job's strategy; why: "without smoothing".
void warn_without_effect(const Check& check, const std::string& path, const std::string& why);

/// Of a strategy that is another one where there is one rank, because nothing is another rank's then: says
/// so.
void warn_of_one_rank(const Check& check, const std::string& kind, const std::string& other);

inline constexpr const char* kRanksInCel =
    "(has(self.placement) && has(self.placement.ranks) ? self.placement.ranks : 1)";

/// Every rule but "a required field is there" and "the name is one", which the schema says by itself.
const std::vector<Rule>& all_rules();

/// Adds errors for what can't be, warnings for fields that were given and have no effect.
void check_rules(const Job& job, const Given& given, Problems& problems);

}  // namespace atl
