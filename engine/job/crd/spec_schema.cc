// Makes the structural schema of a GNNJob's spec and metadata from the field table.
#include "job/crd/crd.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "job/api_names.h"
#include "job/field.h"
#include "job/fields.h"
#include "job/quantity.h"
#include "job/read.h"
#include "job/strategies.h"

namespace atl {
namespace {

// Makes the structural schema of a field that holds a value (OpenAPI v3 as in CustomResourceDefinitions).

using Json = nlohmann::ordered_json;

constexpr int kLongestQuantity = 32;
constexpr int kMostFreeFields = 64;

/// A pattern that matches no text, because nothing can follow "$". What follows tells the user what is
/// allowed.
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

/// Bounds that no list, no map or no boolean can meet. They don't apply to values of other types.
Json no_list() {
  return {{"minItems", 1}, {"maxItems", 0}};
}
Json no_map() {
  return {{"minProperties", 1}, {"maxProperties", 0}};
}
Json no_flag() {
  return {{"not", {{"enum", {true, false}}}}};
}

/// An integer, or a quantity as text; a rule checks the quantity's range (crd.h).
Json quantity() {
  return {
      {"x-kubernetes-int-or-string", true}, {"pattern", kQuantityPattern}, {"maxLength", kLongestQuantity}};
}

/// The schema of a number of cores: an integer, a fraction or a text. Kubernetes' schemas have no type for
/// these three together.
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

Json crd_type_of(const Field& field) {
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

/// The schema with description, bounds, enum or range, but without default and rules.
Json leaf_schema(const Field& field) {
  Json schema{{"description", described(field)}};
  schema.update(crd_type_of(field));
  return schema;
}

/// The schema of a scalar in an object's place. `member` is the first field that the scalar sets. A schema
/// that allows maps and scalars can't give a type, so it refuses each other kind of value by a bound that the
/// value can't meet.
Json shorthand_schema(const Field& member) {
  Json schema{{"x-kubernetes-preserve-unknown-fields", true}};
  if (member.type == FieldType::kChoice) {
    std::vector<std::string> names;
    for (const auto& choice : member.choices) names.push_back(choice.name);
    schema.update({{"pattern", fmt::format("^({})$", joined(names, "|"))}});
    schema.update({{"minimum", 1}, {"maximum", 0}});  // refuses every number
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

class SpecSchema {
 public:
  SpecSchema() : rules_(server_rules()) {
    for (const Field& field : all_fields()) fields_.push_back(&field);
  }

  Json spec() {
    Json schema = members_of("", {{"description", "what to train, how and where"}, {"type", "object"}});
    add_rules("", schema);
    ATOLL_CHECK(used_ == rules_.size(), "{} of {} rules hang on no field", rules_.size() - used_,
                rules_.size());
    return schema;
  }

 private:
  Json members_of(const std::string& path, Json schema) {
    Json properties = Json::object(), required = Json::array();
    for (const Field* field : children_of(fields_, path)) {
      const std::string name = field_name(field->path);
      if (field_section(field->path) == "metadata") continue;
      if (properties.contains(name)) {
        merge(*field, properties[name]);
        continue;
      }
      properties[name] = member(*field);
      if (field->required) required.push_back(name);
    }
    if (!required.empty()) schema["required"] = std::move(required);
    schema["properties"] = std::move(properties);
    return schema;
  }

  Json member(const Field& field) {
    Json schema;
    if (field.type != FieldType::kObject) {
      schema = leaf_schema(field);
      if (is_defaulted(field) && !in_shorthand(field)) schema["default"] = default_json(field);
    } else if (field.shorthand.empty()) {
      schema = members_of(field.path, {{"description", described(field)}, {"type", "object"}});
      if (is_object_defaulted(field)) schema["default"] = Json::object();
    } else {
      schema = {{"description", described(field)}};
      schema.update(shorthand_schema(*find_field(fields_, field.path + "." + field.shorthand.front())));
      schema = members_of(field.path, std::move(schema));
    }
    add_rules(field.path, schema);
    return schema;
  }

  /// Whether the field is a member of a map that may be one scalar. Such members get no default, because the
  /// server would add it to what the scalar means.
  bool in_shorthand(const Field& field) const {
    const Field* object = find_field(fields_, field_parent(field.path));
    return object != nullptr && !object->shorthand.empty();
  }

  /// Merges options of the same name that several models have. The schema accepts the values of any of them;
  /// rules check the choices of each model.
  static void merge(const Field& field, Json& schema) {
    if (field.type != FieldType::kChoice) {
      ATOLL_CHECK(leaf_schema(field) == schema,
                  "{}: models' options share one namespace, and two of this name have another type, range or "
                  "description",
                  field.path);
      return;
    }
    ATOLL_CHECK(schema.contains("enum"), "{}: two options of one name, of which one is a choice", field.path);
    Json& names = schema["enum"];
    for (const Json& name : choice_names(field)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }

  void add_rules(const std::string& scope, Json& schema) {
    for (const ServerRule& rule : rules_) {
      if (rule.scope != scope) continue;
      schema["x-kubernetes-validations"].push_back(rule_json(rule));
      ++used_;
    }
  }

  std::vector<const Field*> fields_;
  std::vector<ServerRule> rules_;
  std::size_t used_ = 0;
};

}  // namespace

Json spec_schema() {
  return SpecSchema().spec();
}

const char* const kName = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";

Json metadata_schema() {
  return {
      {"type", "object"},
      {"properties", {{"name", {{"type", "string"}, {"maxLength", kLongestJobName}, {"pattern", kName}}}}}};
}

}  // namespace atl
