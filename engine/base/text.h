// Text for people and from them: Unicode, quoting input in messages, the known word nearest to a mistyped
// one, lists, numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace atl {

// Text as Unicode.

/// Position of the first byte that is not part of well-formed UTF-8 (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF); npos where there is none.
std::size_t find_invalid_utf8(std::string_view text);

// Input as messages quote it. Whatever bytes it holds, a terminal shows it as one line and executes nothing.

/// Quotes what a user, a file or a peer has given, as "'alice'". Control characters and bytes that aren't
/// UTF-8 become escapes (\x1b, \t), and after 40 characters "…" follows. All messages quote input this way.
std::string in_quotes(std::string_view text);

/// Like in_quotes, but without quotes and uncut, and line ends stay. For parts of a message that come from
/// elsewhere: a path, a library's words.
std::string printable(std::string_view text);

// The known word nearest to a mistyped one, for "did you mean".

/// The word of `known` with the fewest edits (insert, delete, replace, swap neighbours) to `given`, whatever
/// its case, or "" where none is near enough to be meant.
std::string nearest_word(const std::string& given, const std::vector<std::string>& known);

/// Returns " (did you mean X? known: a, b, c)".
std::string suggestion(const std::string& given, const std::vector<std::string>& known);

// Lists.

/// The texts, or the whole numbers, of a list with `between` after each but the last: "a, b, c". fmt::join
/// would compile a formatter with widths and precisions in each file that calls it, which takes a third of a
/// second.
template <class List>
std::string joined(const List& all, std::string_view between) {
  std::string text;
  std::string_view before;
  for (const auto& each : all) {
    text += before;
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(each)>>)
      text += std::to_string(each);
    else
      text += each;
    before = between;
  }
  return text;
}

// Numbers as people read them.

/// Three digits and a unit below a minute ("850 µs", "12.3 ms", "4.20 s"), then "5m 04s", "2h 05m", "3d 04h".
std::string duration_text(double seconds);
/// Three digits and a binary unit: "0 B", "512 B", "1.21 MiB".
std::string bytes_text(double bytes);
/// "2,708".
std::string count_text(std::int64_t count);
/// "1 rank", "2,708 ranks".
std::string counted_text(std::int64_t count, const std::string& noun);
/// A fraction as "81.5 %".
std::string percent_text(double fraction);

}  // namespace atl
