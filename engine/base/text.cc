#include "base/text.h"

#include <fmt/core.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

namespace atl {
namespace {

/// Bytes of the valid character that begins here, or 0.
std::size_t character_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0, too_large = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : size;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_size(text.substr(at));
    if (size == 0) return at;
    at += size;
  }
  return std::string_view::npos;
}

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

/// Whether a terminal would take it for a command: C0 and C1 controls and DEL.
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

/// Escapes control characters and bytes that aren't UTF-8.
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

namespace {

std::string lower(std::string text) {
  for (char& c : text) c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Edit distance with swaps of neighbours (optimal string alignment), three rows at a time.
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_word(const std::string& given, const std::vector<std::string>& known) {
  constexpr std::size_t kShort = 4, kLongest = 100;  // a longer word isn't meant as a field
  if (given.empty() || given.size() > kLongest) return "";
  std::string best;
  // Short words allow one edit only: of three letters, two others make another word (hgt isn't gat).
  const std::size_t most = given.size() <= kShort ? 1 : std::max<std::size_t>(2, given.size() / 3);
  std::size_t fewest = most + 1;
  for (const auto& word : known) {
    const std::size_t count = edits(lower(given), lower(word));
    if (count < fewest && count < std::max(given.size(), word.size())) {
      fewest = count;
      best = word;
    }
  }
  return best;
}

std::string suggestion(const std::string& given, const std::vector<std::string>& known) {
  if (known.empty()) return "";
  const std::string near = nearest_word(given, known);
  const std::string meant = near.empty() ? "" : fmt::format("did you mean {}? ", near);
  return fmt::format(" ({}known: {})", meant, joined(known, ", "));
}

namespace {

/// Three digits, or more before the point: 1.21, 12.1, 121, 1210.
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

}  // namespace

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds < 999.5e-6) return three_digits(seconds * 1e6) + " µs";
  if (seconds < 999.5e-3) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return three_digits(seconds) + " s";
  const auto whole = std::int64_t(std::llround(std::min(seconds, 1e15)));
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  if (whole < 24 * 3600) return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d {:02}h", whole / (24 * 3600), whole / 3600 % 24);
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (!std::isfinite(bytes) || bytes < 0) return "?";
  std::size_t unit = 0;
  for (; bytes >= 1023.5 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{} {}", three_digits(bytes), kUnits[unit]);
}

std::string count_text(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::size_t digits_begin = count < 0 ? 1 : 0;
  for (std::size_t place = text.size(); place > digits_begin + 3; place -= 3) text.insert(place - 3, ",");
  return text;
}

std::string counted_text(std::int64_t count, const std::string& noun) {
  return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string percent_text(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f} %", fraction * 100) : "?";
}

}  // namespace atl
