// A rule on how fields depend on each other. It is checked in two places: in C++ for a Job read from a file,
// and in CEL for the object that the API server gets. Both halves are in one row, and
// tests/data/manifest/refused.json runs the same manifests through both.
#pragma once

#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "job/field.h"
#include "job/job.h"

namespace atl {

// The faults of a manifest are collected, so that a user sees all at once.

struct Problems {
  std::vector<std::string> errors,
      warnings;  // "gnnjob.yaml:14: field: …", in the order found

  void error(const std::string& where, const std::string& path, const std::string& text) {
    errors.push_back(where + ": " + path + ": " + text);
  }
  void warning(const std::string& where, const std::string& path, const std::string& text) {
    warnings.push_back(where + ": " + path + ": " + text);
  }
};

/// Where each field was given: path → "gnnjob.yaml:14". Fields that weren't given are absent.
using Given = std::map<std::string, std::string>;

/// The location of the field or, if it wasn't given, of the nearest object around it, or of the manifest.
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

/// A rule in the Common Expression Language. It must check has() for every field that it reads, even for one
/// with a default, because the server judges a section's `default: {}` before it fills in the fields. CEL
/// can't see fields that may be one scalar instead of a map (Field::shorthand), nor what is in them.
struct ServerRule {
  std::string scope;      // path of the value that `right` calls self: "placement"; "" = spec
  std::string field;      // below the scope, named in the message: "ranksPerServer"; "" = the scope itself
  std::string right;      // true for a correct manifest
  std::string message{};  // what to do if it isn't, in the engine's words
  std::string message_expression{};  // instead of `message`: CEL that makes the text
};

struct Rule {
  void (*check)(const Check&);
  std::vector<ServerRule> server{};  // none: CEL can't express it, and only the operator reports it
};

// The rules, one file per section of the manifest.
std::vector<Rule> dataset_rules();
std::vector<Rule> placement_rules();
std::vector<Rule> training_rules();
std::vector<Rule> link_rules();
std::vector<Rule> strategy_rules();
std::vector<Rule> output_rules();
std::vector<Rule> unused_rules();  // only warnings

/// Whether the path is relative and stays below the folder; in C++ and in CEL.
bool stays_inside(const std::string& path);
std::string stays_inside_in_cel(const std::string& value);

// Helpers for rules about a strategy's options that are given but have no effect.

/// Whether the user wants the option: it is given, and not with its default. A resolved manifest has every
/// option, so a default says nothing about the user's wish.
bool is_wished(const Check& check, const Field& option);

/// Warns that an option has no effect, if the user wants it. `path` is an option of the job's strategy;
/// `why`: "without smoothing".
void warn_without_effect(const Check& check, const std::string& path, const std::string& why);

/// Warns about a job with one rank. There the job's strategy is the same as strategy `other`, because no row
/// is another rank's.
void warn_of_one_rank(const Check& check, const std::string& other);

inline constexpr const char* kRanksInCel =
    "(has(self.placement) && has(self.placement.ranks) ? self.placement.ranks : 1)";

/// All rules, except that a required field is present and that a name is valid, which the schema checks.
const std::vector<Rule>& all_rules();

/// Adds errors for what is impossible, and warnings for fields that were given and have no effect.
void check_rules(const Job& job, const Given& given, Problems& problems);

}  // namespace atl
