// A tree of JSON → YAML in block style that any parser reads back to the same tree: the same text for the same
// tree, keys in the tree's order.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace atl {

std::string yaml_text(const nlohmann::ordered_json& tree);

}  // namespace atl
