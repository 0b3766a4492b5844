// The meaning of a YAML scalar, as kubectl takes it.
#include "job/yaml.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>

#include "base/error.h"

namespace atl {
namespace {

const std::map<std::string, Scalar>& words() {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  static const std::map<std::string, Scalar> table{
      {"", {}},        {"~", {}},       {"null", {}},   {"Null", {}},     {"NULL", {}},     {"y", true},
      {"Y", true},     {"yes", true},   {"Yes", true},  {"YES", true},    {"true", true},   {"True", true},
      {"TRUE", true},  {"on", true},    {"On", true},   {"ON", true},     {"n", false},     {"N", false},
      {"no", false},   {"No", false},   {"NO", false},  {"false", false}, {"False", false}, {"FALSE", false},
      {"off", false},  {"Off", false},  {"OFF", false}, {".nan", nan},    {".NaN", nan},    {".NAN", nan},
      {".inf", inf},   {".Inf", inf},   {".INF", inf},  {"+.inf", inf},   {"+.Inf", inf},   {"+.INF", inf},
      {"-.inf", -inf}, {"-.Inf", -inf}, {"-.INF", -inf}};
  return table;
}

/// The base and the digits of an unsigned integer literal: 0x1F, 0o17, 017, 0b101, 15.
std::pair<int, std::string> base_of(const std::string& digits) {
  if (digits.size() > 1 && digits[0] == '0') {
    switch (digits[1] | 0x20) {
      case 'x':
        return {16, digits.substr(2)};
      case 'o':
        return {8, digits.substr(2)};
      case 'b':
        return {2, digits.substr(2)};
      default:
        return {8, digits.substr(1)};
    }
  }
  return {10, digits};
}

/// Reads an integer of either sign in any base; nothing if the text isn't one. An integer beyond int64
/// becomes a number.
std::optional<Scalar> integer(const std::string& text) {
  const bool negative = text[0] == '-', sign = negative || text[0] == '+';
  const auto [base, digits] = base_of(text.substr(sign));
  std::uint64_t value = 0;
  const auto end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || stop != end) return {};
  const std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
  if (error == std::errc() && value <= largest + (negative ? 1 : 0)) {
    return Scalar(negative ? std::int64_t(0 - value) : std::int64_t(value));
  }
  // An integer beyond int64 becomes the nearest number. In bases other than ten, only unsigned ones of up to
  // 64 bits do.
  if (base != 10) {
    if (error != std::errc() || negative) return {};
    return Scalar(double(value));
  }
  const double number = std::strtod(digits.c_str(), nullptr);
  if (std::isinf(number)) return {};
  return Scalar(negative ? -number : number);
}

std::size_t digits_from(const std::string& text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return end - at;
}

/// Whether the text matches [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_number(const std::string& text) {
  std::size_t at = text[0] == '-' || text[0] == '+';
  const std::size_t whole = digits_from(text, at);
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = digits_from(text, at + 1);
    if (whole + fraction == 0) return false;
    at += 1 + fraction;
  } else if (whole == 0) {
    return false;
  }
  if (at == text.size()) return true;
  if ((text[at] | 0x20) != 'e') return false;
  ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  const std::size_t exponent = digits_from(text, at);
  return exponent > 0 && at + exponent == text.size();
}

std::optional<Scalar> number(const std::string& text) {
  if (!looks_like_number(text)) return {};
  const double value = std::strtod(text.c_str(), nullptr);
  if (std::isinf(value)) return {};  // 1e1000 stays text
  return Scalar(value);
}

/// Whether the text may be a number, by its first character. Dates such as 2001-01-31 begin with a digit but
/// are text; no check below takes them for a number.
bool may_be_number(const std::string& text) {
  const char c = text[0];
  return (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
}

}  // namespace

Scalar resolve_scalar(const std::string& plain) {
  if (const auto word = words().find(plain); word != words().end()) return word->second;
  if (!may_be_number(plain)) return plain;
  std::string text;
  for (const char c : plain) {
    if (c != '_' || plain[0] == '.') text += c;
  }
  if (plain[0] != '.') {
    if (const auto value = integer(text)) return *value;
  }
  if (const auto value = number(text)) {
    // 1e3 and 5.0 become integers, because the API server gets them as 1000 and 5.
    const double d = std::get<double>(*value);
    if (d == std::floor(d) && std::abs(d) < 9e15) return std::int64_t(d);
    return *value;
  }
  return plain;
}

namespace {

/// Whether a number is written with a point or an exponent. It may be a whole number, but is never an !!int.
bool is_written_as_fraction(const std::string& written) {
  const bool hexadecimal = written.find_first_of("xX") != std::string::npos;
  return !hexadecimal && written.find_first_of(".eE") != std::string::npos;
}

bool fits(const std::string& tag, const Scalar& value, const std::string& written) {
  const bool integer = std::holds_alternative<std::int64_t>(value);
  if (tag == "int") return integer && !is_written_as_fraction(written);
  if (tag == "float") return integer || std::holds_alternative<double>(value);
  if (tag == "bool") return std::holds_alternative<bool>(value);
  if (tag == "null") return std::holds_alternative<std::monostate>(value);
  return tag == "timestamp" || tag == "merge";
}

}  // namespace

Scalar tagged_scalar(const std::string& tag, const std::string& written, const std::string& where) {
  const std::string yaml = "tag:yaml.org,2002:";
  if (tag.empty() || tag == "?") return resolve_scalar(written);
  if (!tag.starts_with(yaml) || tag == yaml + "str") return written;
  const std::string name = tag.substr(yaml.size());
  const Scalar value = resolve_scalar(written);
  if (!fits(name, value, written))
    fail("{}: '{}' is no !!{} (remove the tag, or quote the value to mean the text)", where, written, name);
  return value;
}

}  // namespace atl
