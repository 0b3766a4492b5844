// Downloads a file and checks that it is the one that was meant.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/types.h"

namespace atl {

/// Bytes there so far, bytes in all (0: not known).
using FetchProgress = std::function<void(Index done, Index total)>;

/// Fetches an http, https or file URL to `place` (a file, or a folder that exists or ends in '/': then under
/// the URL's last name) and returns the file's path. The SHA-256 (64 hex digits) is required. A download that
/// breaks off stays beside as "<name>.part" and is continued next time; the file itself appears only once its
/// checksum is right. Nothing is transferred where it already is. Throws Error naming URL and remedy; a file
/// of another checksum is removed. `netrc`, if any, holds user and password by host ("machine HOST login USER
/// password WORD", as for curl and git).
std::filesystem::path fetch(const std::string& url, const std::string& sha256,
                            const std::filesystem::path& place, const FetchProgress& progress = {},
                            const std::filesystem::path& netrc = {});

}  // namespace atl
