// Writes a tree of JSON as YAML in block style, which any parser reads back to the same tree. The same tree
// gives the same text, with keys in the tree's order.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace atl {

std::string yaml_text(const nlohmann::ordered_json& tree);

// Refuses characters that a manifest must not contain, before any parser sees them.

/// Throws Error for bytes that aren't UTF-8, and for characters that parsers disagree on. `name` is in the
/// message, with a line if `lines`.
void refuse_characters(const std::string& text, const std::string& name, bool lines);

}  // namespace atl
