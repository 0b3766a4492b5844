// Reading the API's JSON: objects there leave out whatever is empty, so what is absent reads as nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace atl::ctl {

/// The member, or null where the object has none or is no object.
const nlohmann::json& member(const nlohmann::json& object, const char* name);

/// A string as it is, null as "", anything else as its JSON.
std::string text_of(const nlohmann::json& value);
std::string text_of(const nlohmann::json& object, const char* name);

std::vector<std::string> texts_of(const nlohmann::json& list);

}  // namespace atl::ctl
