#include "job/tag.h"

#include "base/error.h"

namespace atl {
namespace {

/// Written with a point or an exponent: a whole number all the same, and yet no !!int.
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
