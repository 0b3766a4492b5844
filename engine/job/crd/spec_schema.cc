#include "job/crd/spec_schema.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "job/api_names.h"
#include "job/crd/leaf_schema.h"
#include "job/crd/rule_json.h"
#include "job/crd/server_defaults.h"
#include "job/crd/server_rules.h"
#include "job/field_json.h"
#include "job/fields.h"
#include "job/strategies.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

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
        add_choices(*field, properties[name]);
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

  /// Members of a map that may be one scalar get no default: it would be filled into what the scalar leaves unsaid.
  bool in_shorthand(const Field& field) const {
    const Field* object = find_field(fields_, field_parent(field.path));
    return object != nullptr && !object->shorthand.empty();
  }

  /// Several models have an option of this name: the schema takes what any of them does, rules tell them apart.
  static void add_choices(const Field& field, Json& schema) {
    ATOLL_CHECK(field.type == FieldType::kChoice && schema.contains("enum"),
                "{}: two options of one name that aren't choices", field.path);
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
