// A report's tables of what explanations came to, by part.
#pragma once

#include <string>

#include "telemetry/record.h"

namespace atl {

/// Of each rank the vertices of other ranks and the features that matter most to it, and what explaining took. Empty without any.
std::string explained_tables(const RunRecord& run);

}  // namespace atl
