// JSON, as all files of ours read and write it: <nlohmann/json.hpp> is included here alone
// (tests/lint/heavy_headers). The library's parser and writer, more than a second of compiling, are compiled
// in json.cc once, and not in each file that uses them.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

// The header defines the literal "…"_json as an inline function, so that every file which includes it would
// compile the parser. Nobody here uses the literal. This macro turns its body into that of a template, which
// is compiled only where it is called: nowhere.
#define _json(text, size) \
  _json(text, size);      \
  template <class>        \
  nlohmann::json unused_literal(text, size)
#include <nlohmann/json.hpp>
#undef _json

/// dump(), as the library defines it, but compiled in json.cc.
template <>
std::string nlohmann::json::dump(int indent, char fill, bool ascii_alone, error_handler_t on_error) const;
template <>
std::string nlohmann::ordered_json::dump(int indent, char fill, bool ascii_alone,
                                         error_handler_t on_error) const;

// More templates that most files would compile: those that a document written as {{"name", value}, …} calls,
// and its <<.
extern template nlohmann::basic_json<>::basic_json(initializer_list_t, bool, value_t);
extern template nlohmann::basic_json<>::basic_json(const nlohmann::json&);
extern template void nlohmann::basic_json<>::json_value::destroy(value_t);
extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template nlohmann::basic_json<nlohmann::ordered_map>::basic_json(initializer_list_t, bool, value_t);
extern template nlohmann::basic_json<nlohmann::ordered_map>::basic_json(const nlohmann::ordered_json&);
extern template void nlohmann::basic_json<nlohmann::ordered_map>::json_value::destroy(value_t);
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;

namespace atl {

/// Parses a text, or the rest of a stream. Throws nlohmann::json::parse_error where that is no document.
nlohmann::json parse_json(std::string_view text);
nlohmann::json parse_json(std::istream& stream);
/// The same, but objects keep their keys in the text's order.
nlohmann::ordered_json parse_ordered_json(std::string_view text);

/// Parses a text. Where that is no document, returns a value for which is_discarded() holds.
nlohmann::json json_or_discarded(std::string_view text);
nlohmann::ordered_json ordered_json_or_discarded(std::string_view text);

}  // namespace atl
