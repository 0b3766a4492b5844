// Characters that a manifest must not hold, before any parser sees them.
#pragma once

#include <string>

namespace atl {

/// Throws Error for what isn't UTF-8, and for what parsers disagree on. `name` stands in the message, with a line where
/// `lines` says so.
void refuse_characters(const std::string& text, const std::string& name, bool lines);

}  // namespace atl
