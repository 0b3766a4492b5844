// The CustomResourceDefinition of GNNJob: the field table and the rules as an API server understands them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "job/field.h"
#include "job/rule.h"

namespace atl {

/// YAML, the same for the same table. Not in it, because CEL can't see into a field that may be one scalar
/// instead of a map: the rules whose row in rules/ has no server half, and misspelt names in such a map.
std::string custom_resource_definition();

nlohmann::ordered_json spec_schema();
nlohmann::ordered_json metadata_schema();

nlohmann::ordered_json status_schema();

/// A constant default, and no model, strategy or other field makes it meaningless: `heads` is not filled into
/// the options of gcn, nor `momentum` into adam.
bool is_defaulted(const Field& field);

/// An object that is filled in, empty, so that its members can be: one that means nothing by its presence.
/// Not dataset.synthetic, which has a required member, nor a strategy's block.
bool is_object_defaulted(const Field& object);

std::vector<ServerRule> server_rules();

/// What of a job that exists may change, and when; on the object as a whole, because it depends on the
/// status. Scopes and fields are paths from the root: "spec.placement".
std::vector<ServerRule> change_rules();

// A ServerRule as an entry of x-kubernetes-validations.

nlohmann::ordered_json rule_json(const ServerRule& rule);

}  // namespace atl
