#include "base/json.h"

#include <istream>

template <>
std::string nlohmann::json::dump(int indent, char fill, bool ascii_alone, error_handler_t on_error) const {
  std::string text;
  detail::serializer<nlohmann::json> writer(detail::output_adapter<char, std::string>(text), fill, on_error);
  writer.dump(*this, indent >= 0, ascii_alone, indent >= 0 ? unsigned(indent) : 0);
  return text;
}

template <>
std::string nlohmann::ordered_json::dump(int indent, char fill, bool ascii_alone,
                                         error_handler_t on_error) const {
  std::string text;
  detail::serializer<nlohmann::ordered_json> writer(detail::output_adapter<char, std::string>(text), fill,
                                                    on_error);
  writer.dump(*this, indent >= 0, ascii_alone, indent >= 0 ? unsigned(indent) : 0);
  return text;
}

template nlohmann::basic_json<>::basic_json(initializer_list_t, bool, value_t);
template nlohmann::basic_json<>::basic_json(const nlohmann::json&);
template void nlohmann::basic_json<>::json_value::destroy(value_t);
template class nlohmann::detail::serializer<nlohmann::json>;
template nlohmann::basic_json<nlohmann::ordered_map>::basic_json(initializer_list_t, bool, value_t);
template nlohmann::basic_json<nlohmann::ordered_map>::basic_json(const nlohmann::ordered_json&);
template void nlohmann::basic_json<nlohmann::ordered_map>::json_value::destroy(value_t);
template class nlohmann::detail::serializer<nlohmann::ordered_json>;

namespace atl {

nlohmann::json parse_json(std::string_view text) {
  return nlohmann::json::parse(text);
}

nlohmann::json parse_json(std::istream& stream) {
  return nlohmann::json::parse(stream);
}

nlohmann::ordered_json parse_ordered_json(std::string_view text) {
  return nlohmann::ordered_json::parse(text);
}

nlohmann::json json_or_discarded(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

nlohmann::ordered_json ordered_json_or_discarded(std::string_view text) {
  return nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace atl
