#include "job/option_field.h"

namespace atl {
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
