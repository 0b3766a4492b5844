#include "job/crd/leaf_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "job/assign.h"
#include "job/field_json.h"
#include "job/quantity.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLongestQuantity = 32;
constexpr int kMostFreeFields = 64;

/// A pattern that no text matches, as nothing comes after the end, and that says what would be right.
std::string no_text(const Field& member) {
  return "$(" + allowed_text(member) + ", or a map)";
}

Json range_of(const Field& field) {
  Json range = Json::object();
  if (std::isfinite(field.minimum)) range["minimum"] = json_number(field.minimum);
  if (field.above_minimum) range["exclusiveMinimum"] = true;
  if (std::isfinite(field.maximum)) range["maximum"] = json_number(field.maximum);
  if (field.below_maximum) range["exclusiveMaximum"] = true;
  return range;
}

/// Bounds that no list, no map and no boolean meets; others aren't asked.
Json no_list() {
  return {{"minItems", 1}, {"maxItems", 0}};
}
Json no_map() {
  return {{"minProperties", 1}, {"maxProperties", 0}};
}
Json no_flag() {
  return {{"not", {{"enum", {true, false}}}}};
}

/// An integer or a quantity in a text; the range of the latter is a rule (server_rules.h).
Json quantity() {
  return {
      {"x-kubernetes-int-or-string", true}, {"pattern", kQuantityPattern}, {"maxLength", kLongestQuantity}};
}

/// Cores may also be a fraction, for which Kubernetes' schemas have no type.
Json cores() {
  Json schema{{"x-kubernetes-preserve-unknown-fields", true},
              {"pattern", kQuantityPattern},
              {"maxLength", kLongestQuantity}};
  for (const Json& bound : {no_list(), no_map(), no_flag()}) schema.update(bound);
  return schema;
}

Json list_of(const Field& field, Json item) {
  return {{"type", "array"},
          {"maxItems", field.most_items},
          {"x-kubernetes-list-type", "atomic"},
          {"items", item}};
}

Json text() {
  return {{"type", "string"}, {"maxLength", kLongestText}};
}

Json with_range(Json schema, const Field& field) {
  schema.update(range_of(field));
  return schema;
}

Json type_of(const Field& field) {
  switch (field.type) {
    case FieldType::kFlag:
      return {{"type", "boolean"}};
    case FieldType::kInteger:
      return with_range({{"type", "integer"}, {"format", "int64"}}, field);
    case FieldType::kNumber:
      return with_range({{"type", "number"}}, field);
    case FieldType::kCount:
      return quantity();
    case FieldType::kBytes:
      return with_range(quantity(), field);
    case FieldType::kCores:
      return with_range(cores(), field);
    case FieldType::kText:
      return text();
    case FieldType::kChoice:
      return {{"type", "string"}, {"enum", choice_names(field)}};
    case FieldType::kTextList:
      return list_of(field, text());
    case FieldType::kNumberList:
      return list_of(field, with_range({{"type", "number"}}, field));
    case FieldType::kIntegerList:
      return list_of(field, with_range({{"type", "integer"}, {"format", "int64"}}, field));
    case FieldType::kFree:
      return {{"type", "object"},
              {"maxProperties", kMostFreeFields},
              {"x-kubernetes-preserve-unknown-fields", true}};
    case FieldType::kObject:
      break;
  }
  ATOLL_CHECK(false, "{} holds no value", field.path);
  return {};
}

}  // namespace

Json leaf_schema(const Field& field) {
  Json schema{{"description", described(field)}};
  schema.update(type_of(field));
  return schema;
}

Json shorthand_schema(const Field& member) {
  Json schema{{"x-kubernetes-preserve-unknown-fields", true}};
  if (member.type == FieldType::kChoice) {
    std::vector<std::string> names;
    for (const auto& choice : member.choices) names.push_back(choice.name);
    schema.update({{"pattern", fmt::format("^({})$", fmt::join(names, "|"))}});
    schema.update({{"minimum", 1}, {"maximum", 0}});  // which no number is
  } else {
    ATOLL_CHECK(member.type == FieldType::kInteger || member.type == FieldType::kNumber, "{}: no short form",
                member.path);
    schema.update({{"pattern", no_text(member)}});
    schema.update(range_of(member));
    if (member.type == FieldType::kInteger) schema["multipleOf"] = 1;
  }
  for (const Json& bound : {no_list(), no_flag()}) schema.update(bound);
  return schema;
}

}  // namespace atl
