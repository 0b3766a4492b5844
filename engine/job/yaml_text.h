// A tree of JSON → YAML in block style that any parser reads back to the same tree: the same text for the
// same tree, keys in the tree's order.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace atl {

std::string yaml_text(const nlohmann::ordered_json& tree);

// Characters that a manifest must not hold, before any parser sees them.

/// Throws Error for what isn't UTF-8, and for what parsers disagree on. `name` stands in the message, with a
/// line where `lines` says so.
void refuse_characters(const std::string& text, const std::string& name, bool lines);

}  // namespace atl
