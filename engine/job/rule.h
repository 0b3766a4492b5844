// One rule of how fields depend on each other, in both places where it is judged: in C++ over a Job that was read
// from a file, and in CEL over the object that the API server is given. Both halves stand in one row, and
// tests/data/manifest/refused.json runs the same manifests through both.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "job/job.h"
#include "job/problems.h"

namespace atl {

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

/// A rule in the Common Expression Language. It must say has() of every field it reads, of those with a default too:
/// the server judges the `default: {}` of a section before it fills that in. Fields that may be one scalar instead of a
/// map (Field::shorthand) and what is in them can't be seen.
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

}  // namespace atl
