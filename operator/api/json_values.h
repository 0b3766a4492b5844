// Values of the API's JSON that are not text: absent or of another type reads as nothing, because what a pod says of
// itself is not to be trusted.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "operator/api/moment.h"

namespace atl::ctl {

std::optional<std::int64_t> integer_of(const nlohmann::json& object, const char* name);
std::optional<double> number_of(const nlohmann::json& object, const char* name);  // finite
std::optional<Moment> moment_of(const nlohmann::json& object, const char* name);

/// The list, empty where there is none.
const nlohmann::json& list_of(const nlohmann::json& object, const char* name);

/// At most `most` bytes of it, cut between characters and marked "…" where something is missing; bytes that are no
/// UTF-8 end it.
std::string bounded(const std::string& text, std::size_t most);

}  // namespace atl::ctl
