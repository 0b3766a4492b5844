#include "base/quoted.h"

#include <fmt/core.h>

#include "base/utf8.h"

namespace atl {
namespace {

constexpr std::size_t kMostCharacters = 40;
constexpr std::size_t kLongestCharacter = 4;  // bytes

/// Bytes of the character that `text` begins with; a byte that begins none counts alone.
std::size_t size_of_first(std::string_view text) {
  if (find_invalid_utf8(text.substr(0, kLongestCharacter)) == 0) return 1;
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) ++size;
  return size;
}

/// What a terminal would take for a command: C0 and C1 controls and DEL.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  return character.size() == 2 && byte(0) == 0xc2 && byte(1) < 0xa0;
}

std::string escaped(std::string_view character) {
  if (character == "\t") return "\\t";
  if (character == "\n") return "\\n";
  if (character == "\r") return "\\r";
  std::string text;
  for (const char byte : character) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// A byte that isn't UTF-8 is escaped, too.
std::string shown(std::string_view character) {
  const bool valid = find_invalid_utf8(character) == std::string_view::npos;
  return valid && !is_control(character) ? std::string(character) : escaped(character);
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out = "'";
  for (std::size_t count = 0; !text.empty(); ++count) {
    if (count == kMostCharacters) return out + "…'";
    const std::string_view character = text.substr(0, size_of_first(text));
    out += shown(character);
    text.remove_prefix(character.size());
  }
  return out + "'";
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::string_view character = text.substr(0, size_of_first(text));
    out += character == "\n" ? "\n" : shown(character);
    text.remove_prefix(character.size());
  }
  return out;
}

}  // namespace atl
