// The CustomResourceDefinition of GNNJob: the field table and the rules as an API server understands them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "job/field.h"
#include "job/rule.h"

namespace atl {

/// The definition as YAML. It depends on the table only. CEL can't see into a field that may be one scalar
/// instead of a map. So rules whose row in rules/ has no server half are missing, and misspelt names in such
/// a map aren't found.
std::string custom_resource_definition();

/// The facts on models, strategies and samplers that the chart's admission policy needs for those missing
/// rules, as YAML.
std::string policy_facts();

nlohmann::ordered_json spec_schema();
nlohmann::ordered_json metadata_schema();

nlohmann::ordered_json status_schema();

/// Whether the field has a constant default that no model, strategy or other field makes meaningless: `heads`
/// is not filled into gcn's options, nor `momentum` into adam's.
bool is_defaulted(const Field& field);

/// Whether the server fills in the object as an empty one, whose members then get their defaults. It doesn't
/// where the object's presence means something: dataset.synthetic, which has a required member, or a
/// strategy's block.
bool is_object_defaulted(const Field& object);

std::vector<ServerRule> server_rules();

/// Rules on what may change in an existing job, and when. They are on the whole object, because they depend
/// on the status. Scopes and fields are paths from the root: "spec.placement".
std::vector<ServerRule> change_rules();

// A ServerRule as an entry of x-kubernetes-validations.

nlohmann::ordered_json rule_json(const ServerRule& rule);

}  // namespace atl
