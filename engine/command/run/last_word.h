// How a pod's first process ended, for whoever reads its termination message: one JSON object, never so long that it arrives
// in part.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace atl {

/// Of the text; kubelet keeps the last 4,096 bytes of a file.
inline constexpr std::size_t kLongestWord = 3500;

/// As text, its "message" cut to what fits.
std::string last_word(nlohmann::ordered_json end);

/// The same written to a file, which may be a device or a mount that can't be replaced: in place. Where it can't be
/// written, a warning on standard error says so.
void leave_word(const std::string& path, const nlohmann::ordered_json& end);

}  // namespace atl
