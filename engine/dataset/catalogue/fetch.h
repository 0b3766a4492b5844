// Downloads a file and checks its SHA-256.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/types.h"

namespace atl {

/// Called with the bytes received so far and the file's size (0: not known).
using FetchProgress = std::function<void(Index done, Index total)>;

/// Downloads an http, https or file URL to `place` and returns the file's path. `place` is a file, or a
/// folder (it exists or ends in '/'), in which the file gets the URL's last name. The SHA-256 (64 hex digits)
/// is required. A download that breaks off stays beside as "<name>.part" and is continued next time; the file
/// itself appears only once its checksum is right. A file that is there already isn't transferred again.
/// Throws Error naming URL and remedy, also while another process fetches the same file; a file with another
/// checksum is removed. `netrc`, if any, holds user and password by host ("machine HOST login USER password
/// WORD", as for curl and git).
std::filesystem::path fetch(const std::string& url, const std::string& sha256,
                            const std::filesystem::path& place, const FetchProgress& progress = {},
                            const std::filesystem::path& netrc = {});

}  // namespace atl
