// --replace takes the place of what the same command makes, a data set or an export, and of nothing else.
#pragma once

#include <filesystem>
#include <vector>

namespace atl {

enum class Made { kDataset, kExport };

/// Returns where `place` is free, an empty folder, or a folder that holds what is `made`, whole or torn. Throws Error where something
/// else would be deleted, or any of `sources`, what is read meanwhile, lies there.
void check_replaceable(const std::filesystem::path& place, Made made,
                       const std::vector<std::filesystem::path>& sources = {});

}  // namespace atl
