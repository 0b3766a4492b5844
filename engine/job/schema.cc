// The JSON schema of a manifest, which an editor checks while the user types. The API server's schema, with
// less of JSON schema and more of Kubernetes, is in crd/.
#include <cmath>
#include <map>

#include "base/json.h"
#include "job/api_names.h"
#include "job/fields.h"
#include "job/models.h"
#include "job/quantity.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

std::vector<const Field*> manifest_fields() {
  std::vector<const Field*> fields;
  for (const Field& field : all_fields()) fields.push_back(&field);
  return fields;
}

Json number_or_quantity() {
  return {{"anyOf",
           Json::array({Json{{"type", "number"}}, Json{{"type", "string"}, {"pattern", kQuantityPattern}}})}};
}

Json type_of(const Field& field) {
  switch (field.type) {
    case FieldType::kFlag:
      return {{"type", "boolean"}};
    case FieldType::kInteger:
      return {{"type", "integer"}};
    case FieldType::kNumber:
      return {{"type", "number"}};
    case FieldType::kCount:
    case FieldType::kBytes:
    case FieldType::kCores:
      return number_or_quantity();
    case FieldType::kTextList:
      return {{"type", "array"}, {"maxItems", field.most_items}, {"items", {{"type", "string"}}}};
    case FieldType::kNumberList:
      return {{"type", "array"}, {"maxItems", field.most_items}, {"items", {{"type", "number"}}}};
    case FieldType::kIntegerList:
      return {{"type", "array"}, {"maxItems", field.most_items}, {"items", {{"type", "integer"}}}};
    case FieldType::kText:
      return {{"type", "string"}, {"maxLength", kLongestText}};
    case FieldType::kChoice:
      return {{"type", "string"}};
    case FieldType::kObject:
      return {{"type", "object"}, {"additionalProperties", false}};
    case FieldType::kFree:
      return {{"type", "object"}};
  }
  return {};
}

void add_range(const Field& field, Json& schema) {
  const bool number = field.type == FieldType::kInteger || field.type == FieldType::kNumber;
  if (!number) return;
  if (std::isfinite(field.minimum))
    schema[field.above_minimum ? "exclusiveMinimum" : "minimum"] = json_number(field.minimum);
  if (std::isfinite(field.maximum))
    schema[field.below_maximum ? "exclusiveMaximum" : "maximum"] = json_number(field.maximum);
}

Json leaf(const Field& field) {
  Json schema = type_of(field);
  schema["description"] = described(field);
  if (!field.choices.empty()) schema["enum"] = choice_names(field);
  add_range(field, schema);
  if (Json value = default_json(field); !value.is_null()) schema["default"] = std::move(value);
  return schema;
}

/// Adds a property to the schema. Several models may have an option of the same name: the schema accepts
/// either form, and the parser knows which one is right.
void add_property(Json& properties, const std::string& name, Json schema) {
  if (!properties.contains(name)) {
    properties[name] = std::move(schema);
  } else if (properties[name].contains("anyOf")) {
    properties[name]["anyOf"].push_back(std::move(schema));
  } else {
    properties[name] = {{"anyOf", Json::array({properties[name], std::move(schema)})}};
  }
}

/// A schema that also accepts the scalar that may stand in the object's place.
Json with_shorthand(const std::vector<const Field*>& fields, const Field& field, Json object) {
  if (field.shorthand.empty()) return object;
  const Field* first = find_field(fields, field.path + "." + field.shorthand.front());
  return {{"description", field.description}, {"anyOf", Json::array({std::move(object), leaf(*first)})}};
}

Json object_of(const std::vector<const Field*>& fields, const std::string& path, Json schema) {
  Json properties = Json::object();
  for (const Field* child : children_of(fields, path)) {
    Json property = leaf(*child);
    if (child->type == FieldType::kObject) {
      property = with_shorthand(fields, *child, object_of(fields, child->path, std::move(property)));
    }
    add_property(properties, field_name(child->path), std::move(property));
    if (child->required) schema["required"].push_back(field_name(child->path));
  }
  schema["properties"] = std::move(properties);
  return schema;
}

}  // namespace

std::string json_schema() {
  const auto fields = manifest_fields();
  Json metadata = object_of(fields, "metadata", {{"type", "object"}});
  Json spec = object_of(fields, "", {{"type", "object"}, {"additionalProperties", false}});
  const Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                    {"title", "GNNJob"},
                    {"type", "object"},
                    {"additionalProperties", false},
                    {"required", {"apiVersion", "kind", "metadata", "spec"}},
                    {"properties",
                     {{"apiVersion", {{"const", std::string(kApiGroup) + "/" + kApiVersion}}},
                      {"kind", {{"const", kApiKind}}},
                      {"metadata", std::move(metadata)},
                      {"spec", std::move(spec)},
                      {"status", {{"type", "object"}}}}}};
  return schema.dump(2) + "\n";
}

// Facts of a field's row as JSON, for the schemas made from the table.

std::string described(const Field& field) {
  return field.description + (field.unit.empty() ? "" : " [" + field.unit + "]");
}

Json default_json(const Field& field) {
  if (!field.slot || field.required || !field.default_text.empty() || !own_defaults(field).empty())
    return nullptr;
  const std::string text = default_of(field);
  if (text.empty()) return nullptr;
  const bool quoted = field.type == FieldType::kText || field.type == FieldType::kChoice;
  if (quoted) return text;
  const Json value = parse_ordered_json(text);
  return value.is_number_float() ? json_number(value.get<double>()) : value;
}

Json choice_names(const Field& field) {
  Json names = Json::array();
  for (const auto& choice : field.choices) names.push_back(choice.name);
  return names;
}

Json json_number(double value) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (value == std::floor(value) && std::abs(value) <= kExact) return std::int64_t(value);
  return value;
}

}  // namespace atl
