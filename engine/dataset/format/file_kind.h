// Recognises by its first bytes what a file is that was given as a text or an array.
#pragma once

#include <string_view>

namespace atl {

/// This many first bytes are enough to recognise every kind.
inline constexpr std::size_t kKindBytes = 512;

/// Text that follows the file's name in a message, as "is a zip archive, as .npz and .pt are: unpack it
/// first"; empty if the kind isn't known. `begin`: the first kKindBytes, or all there are.
std::string_view known_kind(std::string_view begin);

/// The same for a reader of text, to which bytes of 0 aren't text either.
std::string_view not_text(std::string_view begin);

}  // namespace atl
