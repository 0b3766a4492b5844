// The known word nearest to a mistyped one, for "did you mean".
#pragma once

#include <string>
#include <vector>

namespace atl {

/// The word of `known` with the fewest edits (insert, delete, replace, swap neighbours) to `given`, whatever
/// its case, or "" where none is near enough to be meant.
std::string nearest_word(const std::string& given, const std::vector<std::string>& known);

/// " (did you mean X? known: a, b, c)".
std::string suggestion(const std::string& given, const std::vector<std::string>& known);

}  // namespace atl
