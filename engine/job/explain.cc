// `atoll explain`: the field table as text.
#include "job/fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "job/models.h"
#include "job/read.h"
#include "job/strategies.h"

namespace atl {
namespace {

std::vector<const Field*> every_field() {
  std::vector<const Field*> fields;
  for (const Field& field : all_fields()) fields.push_back(&field);
  return fields;
}

/// The default as text: "none, batch with gin"; "0: 4 for each stage".
std::string default_value(const Field& field) {
  std::string value = default_of(field);
  const std::string own = own_defaults(field);
  const auto* number = field.initial ? std::get_if<std::int64_t>(&*field.initial) : nullptr;
  if (number != nullptr && !field.default_text.empty()) value = fmt::format("{}: {}", *number, value);
  return own.empty() ? value : value + ", " + own;
}

/// The default's sources: "Kipf & Welling 2017; Chen et al. 2020 (gcnii)".
std::string source_text(const Field& field) {
  const std::string own = own_sources(field);
  return field.source + (field.source.empty() || own.empty() ? "" : "; ") + own;
}

std::string default_text(const Field& field) {
  const std::string value = default_value(field);
  if (field.required) return "required";
  if (value.empty()) return "";
  const std::string source = source_text(field);
  return fmt::format("default {}{}", value, source.empty() ? "" : " (" + source + ")");
}

/// The field in a list: "  learningRate   a number, above 0 … 100; default 0.01 (Kipf & Welling 2017)" and
/// below it the description.
std::string summary(const Field& field) {
  std::string name = field_name(field.path) + (field.of_kind.empty() ? "" : " [" + field.of_kind + "]");
  std::string line = fmt::format("  {:<22} {}", name, field.description);
  std::string facts;
  if (field.type != FieldType::kObject) facts = allowed_text(field);
  for (const std::string& fact : {field.unit, default_text(field)}) {
    if (!fact.empty()) facts += (facts.empty() ? "" : "; ") + fact;
  }
  return line + "\n" + (facts.empty() ? "" : fmt::format("  {:<22} {}\n", "", facts));
}

std::string changes_text(Mutability mutability) {
  switch (mutability) {
    case Mutability::kNever:
      return "not allowed once a cluster has the job";
    case Mutability::kWhileSuspended:
      return "allowed on a cluster while the job is suspended";
    case Mutability::kAlways:
      return "allowed on a cluster at any time";
  }
  return "";
}

std::string details(const Field& field) {
  std::string out =
      fmt::format("{}{}\n  {}\n", field.path, field.of_kind.empty() ? "" : " (of " + field.of_kind + ")",
                  field.description);
  auto add = [&](const char* label, const std::string& text) {
    if (!text.empty()) out += fmt::format("  {:<10}{}\n", label, text);
  };
  if (field.type != FieldType::kObject) add("takes", allowed_text(field));
  add("unit", field.unit);
  add("default", field.required ? "none: the field is required" : default_value(field));
  add("source", source_text(field));
  if (!field.shorthand.empty())
    add("short", fmt::format("a single value instead of a map sets {}", joined(field.shorthand, " and ")));
  if (!field.used_with.path.empty()) {
    add("only with", fmt::format("{}: {}", field.used_with.path, joined(field.used_with.values, ", ")));
  }
  if (field.slot) add("changes", changes_text(mutability_of(field)));
  if (field.slot) add("resuming", field.may_change ? "may change" : "must stay the same");
  for (const auto& choice : field.choices) {
    out += fmt::format("    {:<20} {}\n", choice.name, choice.meaning);
  }
  return out;
}

std::string children_text(const std::string& path) {
  std::string out;
  for (const Field* child : children_of(every_field(), path)) out += summary(*child);
  return out;
}

/// The nearest path if few letters differ. Otherwise the paths of fields in other sections that have this
/// name, or that are called `wanted` by another tool. "": none.
std::string meant(const std::string& wanted, const std::vector<std::string>& known) {
  const std::string near = nearest_word(wanted, known);
  if (!near.empty()) return near;
  std::vector<std::string> paths = paths_named(field_name(wanted));
  if (paths.empty()) paths = paths_named(field_called(field_name(wanted)));
  return joined(paths, " or ");
}

/// The path of a manifest's field in the table; "" is the whole manifest.
std::string without_spec(const std::string& path) {
  if (path == "spec") return "";
  return path.starts_with("spec.") ? path.substr(5) : path;
}

[[noreturn]] void no_such_field(const std::string& wanted) {
  std::vector<std::string> known;
  for (const Field& field : all_fields()) known.push_back(field.path);
  const std::string near = meant(wanted, known);
  fail("{}: no such field{}", wanted,
       near.empty() ? "; atoll explain --all lists the fields" : "; did you mean " + near + "?");
}

}  // namespace

std::string explain(const std::string& path) {
  if (without_spec(path).empty()) {
    return "GNNJob (apiVersion: atoll.dev/v1alpha1), fields of spec:\n" + children_text("") +
           "\natoll explain FIELD explains one field, atoll explain --all every field.\n";
  }
  const std::string wanted = without_spec(path);
  std::string out;
  for (const Field& field : all_fields())
    if (field.path == wanted) out += details(field);
  if (out.empty()) no_such_field(wanted);
  const std::string children = children_text(wanted);
  return out + (children.empty() ? "" : "\n" + children);
}

std::string explain_all(const std::string& path) {
  const std::string wanted = without_spec(path);
  std::vector<std::string> all;
  for (const Field& field : all_fields()) {
    if (wanted.empty() || field.path == wanted || field.path.starts_with(wanted + "."))
      all.push_back(details(field));
  }
  if (all.empty()) no_such_field(wanted);
  return joined(all, "\n");
}

}  // namespace atl
