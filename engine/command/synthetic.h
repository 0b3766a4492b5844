// dataset.synthetic of a manifest, as the generator wants it, and where the generated data set lies.
#pragma once

#include <filesystem>

#include "dataset/generate/generate.h"
#include "job/job.h"

namespace atl {

/// The preset, where there is one, at the size that `vertices` or `scale` says and with every other number
/// that was given in place of its own. Throws Error where it cannot have that size.
CommunitySpec community_spec(const SyntheticSpec& synthetic);

/// A folder below the data root that depends on everything the spec says: made once, used again.
std::filesystem::path synthetic_folder(const std::filesystem::path& data_root,
                                       const SyntheticSpec& synthetic);

}  // namespace atl
