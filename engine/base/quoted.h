// Input as messages quote it: whatever bytes it holds, a line of a terminal shows them and no more.
#pragma once

#include <string>
#include <string_view>

namespace atl {

/// "'alice'": control characters and bytes that aren't UTF-8 stand as escapes (\x1b, \t), and of more than 40 characters
/// the first 40 with "…". The one way in which messages quote what a user, a file or a peer has given.
std::string in_quotes(std::string_view text);

/// The same without quotes, and whole; ends of lines stay. For a message whose parts come from elsewhere: a path, a
/// library's words.
std::string printable(std::string_view text);

}  // namespace atl
