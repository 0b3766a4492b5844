// Writes a tree of JSON as YAML, and refuses characters that a manifest must not contain.
#include "job/yaml.h"

#include <algorithm>
#include <variant>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

bool is_plain_character(char c) {
  const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return word || c == '-' || c == '_' || c == '.' || c == '/' || c == ' ' || c == '(' || c == ')' ||
         c == ';' || c == '$' || c == ',';
}

/// Whether the text needs no quotes: nothing in it has a meaning in YAML, and it can't be taken for a number,
/// a boolean or null.
bool is_plain(const std::string& text) {
  if (text.empty() || text.back() == ' ' || !std::ranges::all_of(text, is_plain_character)) return false;
  const char first = text.front();
  const bool letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
  return letter && std::holds_alternative<std::string>(resolve_scalar(text));
}

std::string scalar_text(const Json& value) {
  const bool plain = value.is_string() && is_plain(value.get<std::string>());
  return plain ? value.get<std::string>() : value.dump();
}

void write(const Json& node, int indent, std::string& out);

/// Writes a value after its key or dash: on the same line, or below it.
void write_value(const Json& value, int indent, std::string& out) {
  if (value.is_structured() && !value.empty()) {
    out += "\n";
    write(value, indent, out);
  } else {
    out += " " + scalar_text(value) + "\n";
  }
}

void write_map(const Json& map, int indent, std::string& out) {
  for (const auto& [key, value] : map.items()) {
    out += std::string(std::size_t(indent), ' ') + scalar_text(key) + ":";
    write_value(value, value.is_array() ? indent : indent + 2, out);
  }
}

/// A map in a list begins on the dash's line.
void write_list(const Json& list, int indent, std::string& out) {
  for (const auto& item : list) {
    const std::size_t begin = out.size();
    if (item.is_object() && !item.empty()) {
      write_map(item, indent + 2, out);
      out[begin + std::size_t(indent)] = '-';
    } else {
      out += std::string(std::size_t(indent), ' ') + "-";
      write_value(item, indent + 2, out);
    }
  }
}

void write(const Json& node, int indent, std::string& out) {
  if (node.is_array()) {
    write_list(node, indent, out);
  } else {
    write_map(node, indent, out);
  }
}

}  // namespace

std::string yaml_text(const Json& tree) {
  std::string out;
  if (tree.is_structured() && !tree.empty()) {
    write(tree, 0, out);
  } else {
    out = scalar_text(tree) + "\n";
  }
  return out;
}

namespace {

std::string place(const std::string& text, std::size_t at, const std::string& name, bool lines) {
  const auto line = 1 + std::count(text.begin(), text.begin() + std::ptrdiff_t(at), '\n');
  return lines ? fmt::format("{}:{}", name, line) : name;
}

/// Refuses bytes that aren't UTF-8: they can't be in JSON, and so not in the API server either.
void refuse_invalid_utf8(const std::string& text, const std::string& name, bool lines) {
  const std::size_t bad = find_invalid_utf8(text);
  if (bad == std::string::npos) return;
  fail("{}: byte 0x{:02x} is not UTF-8; save the file as UTF-8", place(text, bad, name, lines),
       static_cast<unsigned char>(text[bad]));
}

/// Refuses characters that end a line in kubectl's YAML 1.1 and are text in YAML 1.2.
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
