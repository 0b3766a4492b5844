// Converts text between NumPy's unicode, which has four bytes per letter, and UTF-8.
#include "dataset/format/npy.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace atl {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

void append_utf8(std::uint32_t code, std::string& out) {
  const auto tail = [&](int shift) { out.push_back(char(0x80 | (code >> shift & 0x3f))); };
  if (code < 0x80) return out.push_back(char(code));
  if (code < 0x800) {
    out.push_back(char(0xc0 | code >> 6));
  } else if (code < 0x10000) {
    out.push_back(char(0xe0 | code >> 12));
    tail(6);
  } else {
    out.push_back(char(0xf0 | code >> 18));
    tail(12);
    tail(6);
  }
  tail(0);
}

/// Removes the first letter of `text` and returns it.
std::uint32_t take_letter(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const int ones = std::countl_one(first);
  const std::size_t bytes = ones == 0 ? 1 : std::size_t(ones);
  bool whole = ones != 1 && ones <= 4 && text.size() >= bytes;
  std::uint32_t code = ones == 0 ? first : first & (0x7fu >> ones);
  for (std::size_t i = 1; whole && i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    whole = next >> 6 == 2;
    code = code << 6 | (next & 0x3fu);
  }
  text.remove_prefix(whole ? bytes : 1);
  return whole ? code : kReplacement;
}

}  // namespace

std::string utf8_of_ucs4(std::string_view bytes) {
  std::string text;
  for (; bytes.size() >= 4; bytes.remove_prefix(4)) {
    std::uint32_t code = 0;
    std::memcpy(&code, bytes.data(), 4);
    append_utf8(code <= 0x10ffff ? code : kReplacement, text);
  }
  text.erase(text.find_last_not_of('\0') + 1);
  return text;
}

std::string ucs4_of_utf8(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const std::uint32_t code = take_letter(text);
    bytes.append(reinterpret_cast<const char*>(&code), 4);
  }
  return bytes;
}

}  // namespace atl
