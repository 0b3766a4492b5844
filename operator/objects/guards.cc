// Refuses fields that give a pod more rights than it should have, by the table charts/atoll/guards.json.
#include "operator/objects/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/json.h"
#include "base/text.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

struct Row {
  std::vector<std::string> of, fields;
  std::vector<std::string> allowed;  // values; "x/*": any that begins with x/; empty: none
  std::string feature;               // which allows the field; kAnyCapability: the value; "": none
  std::string why;
};

const std::vector<Row>& table() {
  static const std::vector<Row> rows = [] {
    const json text = parse_json(kGuardsTable);
    std::vector<Row> all;
    for (const char* part : {"baseline", "beyond"})
      for (const json& row : text.at(part))
        all.push_back({row.at("of"), row.at("fields"), row.at("allowed"), row.at("feature"), row.at("why")});
    return all;
  }();
  return rows;
}

using Found = std::function<void(const json&)>;

/// Calls `found` with each value at a path like "a.b[].c". Null and absent values are skipped.
void find_values(const json& object, std::string_view field, const Found& found) {
  if (object.is_null()) return;
  if (field.empty()) return found(object);
  const std::size_t dot = field.find('.');
  std::string step(field.substr(0, dot));
  const std::string_view rest = dot == std::string_view::npos ? "" : field.substr(dot + 1);
  const bool is_list = step.ends_with("[]");
  if (is_list) step.resize(step.size() - 2);
  const json& value = member(object, step.c_str());
  if (!is_list) return find_values(value, rest, found);
  if (value.is_array())
    for (const json& item : value) find_values(item, rest, found);
}

bool is_among(const std::string& value, const std::vector<std::string>& allowed) {
  return std::ranges::any_of(allowed, [&](const std::string& one) {
    return one.ends_with('*') ? value.starts_with(one.substr(0, one.size() - 1)) : value == one;
  });
}

std::string words(const Row& row, const json& value) {
  std::vector<std::string> named;
  std::ranges::copy_if(row.allowed, std::back_inserter(named), [](const auto& one) { return !one.empty(); });
  const std::string feature = row.feature == kAnyCapability ? text_of(value) : row.feature;
  return fmt::format("{}is not allowed here ({}; {}leave it out{})",
                     value.is_structured() ? "" : fmt::format("'{}' ", text_of(value)), row.why,
                     named.empty() ? "" : fmt::format("use {}, or ", joined(named, ", ")),
                     feature.empty() ? "" : "; the chart's jobs.allow can name " + feature);
}

std::string without_brackets(std::string field) {
  for (std::size_t at; (at = field.find("[]")) != std::string::npos;) field.erase(at, 2);
  return field;
}

void judge_field(const Row& row, const json& part, const std::string& field, const std::string& path,
                 const std::set<std::string>& allowed, std::vector<Breach>& found) {
  find_values(part, field, [&](const json& value) {
    if (!value.is_structured() && is_among(text_of(value), row.allowed)) return;
    if (row.feature == kAnyCapability && allowed.contains(text_of(value))) return;
    found.push_back({path + "." + without_brackets(field), words(row, value)});
  });
}

/// Judges annotations. Their keys contain dots, so a row's field is the beginning of a key.
void judge_annotations(const Row& row, const json& annotations, const std::string& beginning,
                       const std::string& path, std::vector<Breach>& found) {
  if (!annotations.is_object()) return;
  for (const auto& [key, value] : annotations.items())
    if (key.starts_with(beginning) && !is_among(text_of(value), row.allowed))
      found.push_back({path + "." + key, words(row, value)});
}

}  // namespace

std::vector<Breach> breaches(const json& part, const std::string& kind, const std::string& path,
                             const std::set<std::string>& allowed) {
  std::vector<Breach> found;
  for (const Row& row : table()) {
    if (std::ranges::count(row.of, kind) == 0 || allowed.contains(row.feature)) continue;
    for (const std::string& field : row.fields)
      if (kind == "annotations")
        judge_annotations(row, part, field, path, found);
      else
        judge_field(row, part, field, path, allowed, found);
  }
  return found;
}

std::set<std::string> guarded_features() {
  std::set<std::string> features;
  for (const Row& row : table())
    if (!row.feature.empty() && row.feature != kAnyCapability) features.insert(row.feature);
  return features;
}

bool is_allowable(const std::string& feature) {
  const bool is_word =
      !feature.empty() && feature.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string::npos;
  return is_word || guarded_features().contains(feature);
}

}  // namespace atl::ctl
