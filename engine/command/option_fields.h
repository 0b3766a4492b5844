// Options of a command that stand for fields of the manifest: --preset for dataset.synthetic.preset. The
// manifest's parser checks their values; what it finds is told in the options' names, for nobody typed a
// manifest.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "command/command_line.h"
#include "dataset/generate/generate.h"
#include "job/job.h"

namespace atl {

struct OptionField {
  std::string option, field;  // "--preset", "dataset.synthetic.preset"
};

/// `manifest` with the value of each option that was given in its field. Throws Error with a line for each
/// value that isn't allowed; where there are such, nothing is said about what is missing, which may follow
/// from them.
Job job_of_options(const Arguments& arguments, std::span<const OptionField> options,
                   const std::string& manifest);

// dataset.synthetic of a manifest, as the generator wants it, and where the generated data set lies.

/// The preset, where there is one, at the size that `vertices` or `scale` says and with every other number
/// that was given in place of its own. Throws Error where it cannot have that size.
CommunitySpec community_spec(const SyntheticSpec& synthetic);

/// A folder below the data root that depends on everything the spec says: made once, used again.
std::filesystem::path synthetic_folder(const std::filesystem::path& data_root,
                                       const SyntheticSpec& synthetic);

}  // namespace atl
