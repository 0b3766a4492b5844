// What becomes of the self-loops that the data have.
#pragma once

#include <filesystem>
#include <string>

#include "dataset/dataset.h"
#include "job/load.h"

namespace atl {

/// A run that goes on in `output` keeps to what its manifest there says (job/load.h), unless `loaded` gives something else itself.
void go_on_with_self_loops(const std::filesystem::path& output, LoadedJob& loaded);

/// For the user; "" where the data have none.
std::string self_loops_line(const DatasetMeta& meta, const Job& job);

}  // namespace atl
