#include "operator/plan/json_members.h"

#include "base/json.h"

namespace atl::ctl {

using nlohmann::json;

const json& member(const json& object, const char* name) {
  static const json null;
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

std::string text_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "" : value.dump();
}

std::string text_of(const json& object, const char* name) {
  return text_of(member(object, name));
}

std::vector<std::string> texts_of(const json& list) {
  std::vector<std::string> texts;
  for (const json& item : list) texts.push_back(text_of(item));
  return texts;
}

}  // namespace atl::ctl
