// Whether an open file still is what its path names: files are replaced, moved and removed under whoever holds them open.
#pragma once

#include <filesystem>

namespace atl {

bool still_named(int descriptor, const std::filesystem::path& path);

}  // namespace atl
