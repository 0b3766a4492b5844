#include "job/field.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

std::string flow_list(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const auto& word : words) quoted.push_back('"' + word + '"');
  return fmt::format("[{}]", joined(quoted, ", "));
}

/// Writes a value; it has one overload for each alternative of Slot.
struct Writer {
  const Field& field;
  std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
  std::string operator()(const std::string* value) const { return *value; }
  std::string operator()(const std::vector<std::string>* value) const { return flow_list(*value); }
  std::string operator()(const std::vector<double>* value) const {
    std::vector<std::string> numbers;
    for (const double number : *value) numbers.push_back(fmt::format("{}", number));
    return fmt::format("[{}]", joined(numbers, ", "));
  }
  std::string operator()(const std::vector<std::int64_t>* value) const {
    return fmt::format("[{}]", joined(*value, ", "));
  }
  std::string operator()(const EnumSlot& value) const {
    return field.choices.at(std::size_t(value.get())).name;
  }
  template <class Number>
  std::string operator()(const Number* value) const {
    return fmt::format("{}", *value);
  }
};

/// A job in which the field has its default.
Job job_with_default(const Field& field) {
  Job job;
  if (field.initial) {
    job.model.options.set(option_name(field), *field.initial);
    job.strategy.options.set(option_name(field), *field.initial);
  }
  return job;
}

}  // namespace

std::string field_name(const std::string& path) {
  // A name may contain dots itself (nvidia.com/gpu). It is then the last part, and the only one with a slash.
  const auto slash = path.find('/');
  const auto dot = slash == std::string::npos ? path.rfind('.') : path.rfind('.', path.rfind('.', slash) - 1);
  return dot == std::string::npos ? path : path.substr(dot + 1);
}

std::string field_parent(const std::string& path) {
  const std::string name = field_name(path);
  return name.size() == path.size() ? "" : path.substr(0, path.size() - name.size() - 1);
}

std::string option_name(const Field& field) {
  const std::string block = "strategy." + field.of_kind + ".";
  return field.path.starts_with(block) ? field.path.substr(block.size()) : field_name(field.path);
}

std::string field_section(const std::string& path) {
  return path.substr(0, path.find('.'));
}

std::string value_text(const Field& field, Job& job) {
  ATOLL_CHECK(field.slot, "{} holds no value", field.path);
  return std::visit(Writer{field}, field.slot(job));
}

bool is_default(const Field& field, Job& job) {
  Job defaults = job_with_default(field);
  return value_text(field, job) == value_text(field, defaults);
}

std::string default_of(const Field& field) {
  if (!field.default_text.empty() || field.required || !field.slot) return field.default_text;
  std::string text;
  if (field.initial) {  // no job can exist while the table of strategies is being made
    text = std::visit([&](const auto& value) { return Writer{field}(&value); }, *field.initial);
  } else {
    Job job;
    text = value_text(field, job);
  }
  return text == "[]" ? "" : text;
}

namespace {

FieldType type_of(const Options::Value& value) {
  switch (value.index()) {
    case 0:
      return FieldType::kFlag;
    case 1:
      return FieldType::kInteger;
    case 2:
      return FieldType::kNumber;
    case 4:
      return FieldType::kIntegerList;
    default:
      return FieldType::kChoice;
  }
}

}  // namespace

Field option_field(OptionOwner owner, const std::string& kind, const std::string& path,
                   Options::Value initial, Field rest) {
  Field field = std::move(rest);
  field.path = path;
  field.of_kind = kind;
  if (field.type == FieldType::kObject) field.type = type_of(initial);
  field.initial = std::move(initial);
  field.slot = [owner, name = option_name(field)](Job& job) -> Slot {
    Options& options = owner == OptionOwner::kModel ? job.model.options : job.strategy.options;
    return std::visit([](auto& value) -> Slot { return &value; }, options.at(name));
  };
  return field;
}

Field strategy_option(const std::string& kind, const std::string& name, Options::Value initial, Field rest) {
  return option_field(OptionOwner::kStrategy, kind, "strategy." + kind + "." + name, std::move(initial),
                      std::move(rest));
}

}  // namespace atl
