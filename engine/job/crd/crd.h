// The CustomResourceDefinition of GNNJob: the field table and the rules as an API server understands them.
#pragma once

#include <string>

namespace atl {

/// YAML, the same for the same table. Not in it, because CEL can't see into a field that may be one scalar instead
/// of a map: the rules whose row in rules/ has no server half, and misspelt names in such a map.
std::string custom_resource_definition();

}  // namespace atl
