#include "dataset/import/arc_lines.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

bool is_number(std::string_view field) {
  if (field.starts_with('-') || field.starts_with('+')) field.remove_prefix(1);
  return !field.empty() &&
         std::ranges::all_of(field, [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
}

/// The first field of the next line that isn't a comment; empty at the end of the file.
std::string_view next_first_field(LineReader& lines) {
  std::string_view line, field;
  while (lines.next(line)) {
    if (line.starts_with('#') || line.starts_with('%')) continue;
    if (Fields(line, line.find(',') == std::string_view::npos ? ' ' : ',').next(field)) return field;
  }
  return {};
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// Recognises ids that are numbers written in another way, by the character beside their digits, and says
/// what to do.
void fail_mark(std::string_view field, const LineReader& lines) {
  struct Mark {
    char mark;
    const char* says;
  };
  constexpr Mark kMarks[] = {
      {';', "ids are separated by spaces, tabs or commas: replace ';'"},
      {'|', "ids are separated by spaces, tabs or commas: replace '|'"},
      {'"', "ids are numbers without quotes: remove them"},
      {'\'', "ids are numbers without quotes: remove them"},
      {'\r',
       "lines end in a carriage return alone: replace each by a line feed, for instance by tr '\\r' '\\n'"},
      {':', "the line lists neighbours: remove ':', and use --format adjacency"}};
  const std::size_t at = field.find_first_not_of("+-.0123456789");
  if (at == std::string_view::npos) return;
  if (!(at > 0 && is_digit(field[at - 1])) && !(at + 1 < field.size() && is_digit(field[at + 1]))) return;
  for (const Mark& known : kMarks)
    if (field[at] == known.mark) fail("{}: {}: {}", lines.where(), in_quotes(field), known.says);
}

/// Explains a first field that is no number. If the next line begins with a number, it is a header; otherwise
/// ids are names.
[[noreturn]] void fail_first(std::string_view field, LineReader& lines) {
  fail_mark(field, lines);
  const std::string where = lines.where(), shown = in_quotes(field);
  const std::string_view below = next_first_field(lines);
  if (below.empty() || is_number(below))
    fail("{}: {} is not a whole number; if the line is a header, remove it", where, shown);
  fail(
      "{}: {} is not a whole number, and the next line begins with {}: ids are text; number them first, for instance "
      "by numpy.unique(names, return_inverse=True)",
      where, shown, in_quotes(below));
}

/// Whether the field is like "1.0". Tables write whole numbers so if their column once lacked a value.
bool is_whole_float(std::string_view field) {
  const std::size_t point = field.find('.');
  return point != std::string_view::npos && point > 0 &&
         std::ranges::all_of(field.substr(0, point), is_digit) &&
         field.find_first_not_of('0', point + 1) == std::string_view::npos;
}

}  // namespace

std::int64_t parse_id(std::string_view field, LineReader& lines, bool first) {
  if (field.empty()) fail("{}: an id is missing: fill in the empty field, or remove the line", lines.where());
  if (is_whole_float(field))
    fail("{}: {} is written as a float, but ids are whole numbers: write {} (pandas: astype('int64'))",
         lines.where(), in_quotes(field), field.substr(0, field.find('.')));
  if (first && !is_number(field)) fail_first(field, lines);
  const Index id = parse_integer(field, lines);
  if (id < 0) fail("{}: the id {} is negative; ids are 0 or more", lines.where(), id);
  return id;
}

double parse_weight(std::string_view field, const LineReader& lines) {
  if (field.empty())
    fail("{}: the weight is missing: fill in the empty field, or leave out --weights", lines.where());
  if (field.starts_with('{'))
    fail(
        "{}: {} begins a dictionary, as NetworkX writes it: use nx.write_weighted_edgelist, or leave out --weights",
        lines.where(), in_quotes(field));
  const double weight = parse_real(field, lines);
  if (!std::isfinite(weight) || weight < 0) {
    fail("{}: the weight is {}; weights must be finite and not negative: correct it, or leave out --weights",
         lines.where(), weight);
  }
  as_float32(weight, lines.where() + ": the weight");
  return weight;
}

}  // namespace atl
