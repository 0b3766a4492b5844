// Stores one value of the tree in one field of the Job. The field's row says its type, unit, allowed values
// and range.
#include "job/read.h"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "job/models.h"
#include "job/quantity.h"
#include "job/strategies.h"

namespace atl {
namespace {

// Values that other tools know and manifests don't. Either the engine has another name for the value, or the
// kind isn't built.

struct NotBuilt {
  std::string_view path, name;
};

constexpr NotBuilt kNotBuilt[] = {
    {"model.kind", "appnp"},    {"model.kind", "gatv2"},         {"model.kind", "graphtransformer"},
    {"model.kind", "hgt"},      {"model.kind", "mlp"},           {"model.kind", "pna"},
    {"model.kind", "rgat"},     {"model.kind", "rgcn"},          {"model.kind", "unimp"},
    {"strategy.kind", "ddp"},   {"strategy.kind", "fsdp"},       {"task", "regression"},
    {"task", "noderegression"}, {"task", "graphclassification"}, {"task", "graphregression"},
};

/// Other tools' names for tasks. Models and strategies list theirs in their own rows (also_called).
constexpr std::pair<std::string_view, std::string_view> kTasks[] = {
    {"vertexclassification", "nodeClassification"}, {"linkpred", "linkPrediction"}};

bool is_same_but_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, {}, [](unsigned char c) { return std::tolower(c); },
      [](unsigned char c) { return std::tolower(c); });
}

std::string kind_called(const auto& infos, const std::string& given) {
  for (const auto& info : infos)
    for (const std::string& name : info.also_called)
      if (is_same_but_case(name, given)) return info.kind;
  return "";
}

/// The engine's name for another tool's value; "" where it has none.
std::string name_here(const std::string& path, const std::string& given) {
  if (path == "model.kind") return kind_called(model_infos(), given);
  if (path == "strategy.kind") return kind_called(strategy_infos(), given);
  if (path == "task")
    for (const auto& [name, here] : kTasks)
      if (is_same_but_case(name, given)) return std::string(here);
  return "";
}

/// "did you mean sage?" or "rgcn isn't built;" for a value that isn't one of the field's choices, whatever
/// its case; "" where the value is unknown.
std::string other_name(const std::string& path, const std::string& given) {
  if (const std::string here = name_here(path, given); !here.empty())
    return fmt::format("did you mean {}?", here);
  for (const NotBuilt& other : kNotBuilt)
    if (other.path == path && is_same_but_case(other.name, given))
      return fmt::format("{} isn't built;", other.name);
  return "";
}

/// The value as a user wrote it, shortened.
std::string shown(const Node& value) {
  if (value.kind == Node::Kind::kMap) return "a map";
  if (value.kind == Node::Kind::kList) return "a list";
  return std::holds_alternative<std::string>(value.scalar) ? in_quotes(value.written) : value.written;
}

/// The value as written, with what YAML makes of it: "010 (a number in YAML: quote it to mean the text)".
/// Text is shown alone.
std::string with_meaning(const Node& value) {
  if (const auto* flag = std::get_if<bool>(&value.scalar)) {
    return fmt::format("{} (a boolean in YAML: quote it to mean the word)", value.written, *flag);
  }
  if (!std::holds_alternative<std::string>(value.scalar)) {
    return fmt::format("{} (a number in YAML: quote it to mean the text)", value.written);
  }
  return shown(value);
}

/// The value as a number, whether integer or not; nothing where it isn't a number. `quantity`: the value may
/// also be a quantity in text ("4Gi", "10M").
std::optional<double> number_of(const Node& value, bool quantity) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.scalar)) return double(*integer);
  if (const auto* number = std::get_if<double>(&value.scalar)) return *number;
  const auto* text = std::get_if<std::string>(&value.scalar);
  return text && quantity ? parse_quantity(*text) : std::nullopt;
}

/// Characters of UTF-8, as an API server counts them.
std::size_t characters(const std::string& text) {
  return std::size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

struct Assigner {
  const Field& field;
  const Node& value;
  Problems& problems;

  void refuse(const std::string& given) const {
    problems.error(value.where, field.path,
                   fmt::format("{} is not allowed (use {})", given, allowed_text(field)));
  }

  /// Refuses a scalar where a number or boolean is wanted. If the scalar is a text that holds one, such as
  /// "0.01" from a chart's template, the message says to remove the quotes.
  void refuse_scalar() const {
    const auto* text = std::get_if<std::string>(&value.scalar);
    const Scalar meant = text ? resolve_scalar(*text) : Scalar();
    const bool fits = field.type == FieldType::kFlag ? std::holds_alternative<bool>(meant)
                                                     : std::holds_alternative<std::int64_t>(meant) ||
                                                           std::holds_alternative<double>(meant);
    if (!fits) return refuse(shown(value));
    problems.error(
        value.where, field.path,
        fmt::format("{} is text: write it without quotes (use {})", shown(value), allowed_text(field)));
  }

  bool in_range(double number) const {
    const bool low = field.above_minimum ? number > field.minimum : number >= field.minimum;
    const bool high = field.below_maximum ? number < field.maximum : number <= field.maximum;
    return std::isfinite(number) && low && high;
  }

  bool scalar() const {
    if (value.kind == Node::Kind::kScalar) return true;
    refuse(shown(value));
    return false;
  }

  template <class Integer>
  void whole(Integer* out) const {
    if (!scalar()) return;
    const bool quantity = field.type == FieldType::kCount || field.type == FieldType::kBytes;
    auto number = number_of(value, quantity);
    const bool text = std::holds_alternative<std::string>(value.scalar);
    if (number && text && field.type == FieldType::kBytes) number = std::ceil(*number);
    // A double holds every integer up to 2^53 exactly; an int64 is taken as it is. Numbers beyond int64 are
    // refused, as by an API server.
    const auto* exact = std::get_if<std::int64_t>(&value.scalar);
    const int digits = std::min(std::numeric_limits<Integer>::digits, 63);
    const bool fits = exact ? std::in_range<Integer>(*exact)
                            : number && *number == std::floor(*number) &&
                                  *number >= double(std::numeric_limits<Integer>::min()) &&
                                  *number < std::ldexp(1.0, digits);
    if (!fits || !in_range(*number)) return refuse_scalar();
    *out = exact ? Integer(*exact) : Integer(*number);
  }

  void operator()(int* out) const { whole(out); }
  void operator()(std::int64_t* out) const { whole(out); }
  void operator()(std::uint64_t* out) const { whole(out); }

  void operator()(double* out) const {
    if (!scalar()) return;
    const auto number = number_of(value, field.type == FieldType::kCores);
    if (!number || !in_range(*number)) return refuse_scalar();
    *out = *number;
  }

  void operator()(bool* out) const {
    const auto* flag = std::get_if<bool>(&value.scalar);
    if (value.kind != Node::Kind::kScalar || flag == nullptr) return refuse_scalar();
    *out = *flag;
  }

  void operator()(std::string* out) const {
    if (field.type == FieldType::kFree) {
      if (value.kind != Node::Kind::kMap) return refuse(shown(value));
      *out = to_json(value);
      return;
    }
    if (!scalar()) return;
    const auto* text = std::get_if<std::string>(&value.scalar);
    if (field.type == FieldType::kChoice)
      return choose(text, [&](int i) { *out = field.choices[std::size_t(i)].name; });
    if (text == nullptr) return refuse(with_meaning(value));
    if (characters(*text) > kLongestText) {
      return problems.error(
          value.where, field.path,
          fmt::format("is {} characters long (use at most {})", characters(*text), kLongestText));
    }
    *out = *text;
  }

  void operator()(const EnumSlot& out) const {
    if (scalar()) choose(std::get_if<std::string>(&value.scalar), out.set);
  }

  void choose(const std::string* text, const std::function<void(int)>& set) const {
    if (text == nullptr) return refuse(with_meaning(value));
    std::vector<std::string> names;
    for (std::size_t i = 0; i < field.choices.size(); ++i) {
      names.push_back(field.choices[i].name);
      if (names.back() == *text) return set(int(i));
    }
    const std::string elsewhere = other_name(field.path, *text);
    problems.error(value.where, field.path,
                   shown(value) + " is unknown" +
                       (elsewhere.empty() ? suggestion(*text, names)
                                          : fmt::format(" ({} known: {})", elsewhere, joined(names, ", "))));
  }

  template <class T>
  void operator()(std::vector<T>* out) const {
    if (value.kind != Node::Kind::kList) return refuse(shown(value));
    if (value.items.size() > std::size_t(field.most_items))
      return refuse(fmt::format("a list of {}", value.items.size()));
    out->clear();
    for (const Node& item : value.items) Assigner{field, item, problems}(&out->emplace_back());
  }
};

/// Whether the field is a seed. Seeds have the range of an API server's integers, which a double doesn't hold
/// exactly.
bool is_seed(const Field& field) {
  return field.path.ends_with(".seed");
}

std::string range_text(const Field& field) {
  const bool low = std::isfinite(field.minimum), high = std::isfinite(field.maximum);
  if (low && high) {
    return fmt::format("{}{} … {}{}", field.above_minimum ? "above " : "", field.minimum,
                       field.below_maximum ? "below " : "", field.maximum);
  }
  if (is_seed(field)) return fmt::format("{} … {}", field.minimum, std::numeric_limits<std::int64_t>::max());
  if (low) return fmt::format("{} {}", field.above_minimum ? "above" : "at least", field.minimum);
  return high ? fmt::format("at most {}", field.maximum) : "";
}

std::string type_text(const Field& field) {
  switch (field.type) {
    case FieldType::kObject:
      return "a map of fields";
    case FieldType::kFlag:
      return "true or false";
    case FieldType::kInteger:
      return "an integer";
    case FieldType::kCount:
      return "an integer, also as 200k, 1M or 2G";
    case FieldType::kNumber:
      return "a number";
    case FieldType::kText:
      return "text";
    case FieldType::kChoice:
      return "one of";
    case FieldType::kBytes:
      return "a quantity of bytes like 16Gi";
    case FieldType::kCores:
      return "a quantity of cores like 4 or 500m";
    case FieldType::kTextList:
      return fmt::format("a list of texts, at most {}", field.most_items);
    case FieldType::kNumberList:
      return fmt::format("a list of numbers, at most {}", field.most_items);
    case FieldType::kIntegerList:
      return fmt::format("a list of integers, at most {}", field.most_items);
    case FieldType::kFree:
      return "a map";
  }
  return "";
}

}  // namespace

std::string allowed_text(const Field& field) {
  if (field.type == FieldType::kChoice) {
    std::vector<std::string> names;
    for (const auto& choice : field.choices) names.push_back(choice.name);
    return fmt::format("one of {}", joined(names, ", "));
  }
  const std::string range = range_text(field);
  return type_text(field) + (range.empty() ? "" : ", " + range);
}

void assign(const Field& field, const Node& value, Job& job, Problems& problems) {
  if (!value.is_null()) std::visit(Assigner{field, value, problems}, field.slot(job));
}

}  // namespace atl
