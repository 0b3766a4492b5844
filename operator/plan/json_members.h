// Reading of the API's JSON. Its objects leave out empty members, so an absent member reads as nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace atl::ctl {

/// The member; null where the object has none, or isn't an object.
const nlohmann::json& member(const nlohmann::json& object, const char* name);

/// A string is returned as it is, null as "", and anything else as its JSON.
std::string text_of(const nlohmann::json& value);
std::string text_of(const nlohmann::json& object, const char* name);

std::vector<std::string> texts_of(const nlohmann::json& list);

}  // namespace atl::ctl
