// Asking other processes of this machine for a page, all of them at once.
#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "http/local_name.h"

namespace atl {

/// The page at `path` of each endpoint; nothing of one that isn't there, answers otherwise than with 200, or isn't done within
/// `patience`. Takes no longer than that, whoever hangs.
std::vector<std::optional<std::string>> ask_local(std::span<const LocalName> names, const std::string& path,
                                                  std::chrono::milliseconds patience);

}  // namespace atl
