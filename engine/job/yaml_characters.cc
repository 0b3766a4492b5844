#include "job/yaml_characters.h"

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"

namespace atl {
namespace {

std::string place(const std::string& text, std::size_t at, const std::string& name, bool lines) {
  const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n');
  return lines ? fmt::format("{}:{}", name, line) : name;
}

/// What isn't text can't be in JSON, and so not in the API server either.
void refuse_invalid_utf8(const std::string& text, const std::string& name, bool lines) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad == std::string::npos) return;
  fail("{}: byte 0x{:02x} is not UTF-8; save the file as UTF-8", place(text, bad, name, lines),
       static_cast<unsigned char>(text[bad]));
}

/// They end a line in YAML 1.1, kubectl's, and are text in YAML 1.2.
void refuse_line_separators(const std::string& text, const std::string& name, bool lines) {
  for (const char* separator : {"\u0085", "\u2028", "\u2029"}) {
    const std::size_t bad = text.find(separator);
    if (bad == std::string::npos) continue;
    fail(
        "{}: a Unicode line separator, which parsers take for different things: begin a new line, or write it as an "
        "escape (\\u2028) in quotes",
        place(text, bad, name, lines));
  }
}

}  // namespace

void refuse_characters(const std::string& text, const std::string& name, bool lines) {
  refuse_invalid_utf8(text, name, lines);
  refuse_line_separators(text, name, lines);
}

}  // namespace atl
