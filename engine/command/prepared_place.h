// --prepared: where commands keep prepared graphs, and find them.
#pragma once

#include <filesystem>

#include "command/command_line.h"

namespace atl {

/// Of every command that makes or reads prepared graphs.
Argument prepared_argument();

/// --prepared's folder, or ATOLL_PREPARED's, as whole path, for Dataset::open(); empty: beside each data set.
std::filesystem::path prepared_place(const Arguments& arguments);

}  // namespace atl
