// Where threads that are measured compute: each on a processor that it has to itself.
#pragma once

#include <vector>

namespace atl {

/// That the calling thread may use.
std::vector<int> allowed_processors();

/// The calling thread stays on the one of that number among them, counted round. Where that isn't allowed, the kernel places it.
void stay_on_processor(int number, const std::vector<int>& allowed);

}  // namespace atl
