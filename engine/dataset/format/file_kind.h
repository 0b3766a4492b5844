// What a file is that was given for a text or an array, by its first bytes.
#pragma once

#include <string_view>

namespace atl {

/// As many of a file's first bytes tell every kind.
inline constexpr std::size_t kKindBytes = 512;

/// "is a zip archive, as .npz and .pt are: unpack it first", as a message goes on after the file's name;
/// empty where the bytes are of no kind that is known. `begin`: the first kKindBytes, or all there are.
std::string_view known_kind(std::string_view begin);

/// The same for a reader of text; bytes of 0 are no text either.
std::string_view not_text(std::string_view begin);

}  // namespace atl
