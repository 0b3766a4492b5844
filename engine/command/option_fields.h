// Options of a command that stand for fields of the manifest: --preset for dataset.synthetic.preset. The
// manifest's parser checks their values, and errors name the options, because the user typed no manifest.
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

/// The job of `manifest` with each given option's value in its field. Throws Error with a line for each value
/// that isn't allowed. If there is such a line, missing fields aren't reported, because they may follow from
/// the wrong value.
Job job_of_options(const Arguments& arguments, std::span<const OptionField> options,
                   const std::string& manifest);

// Converts dataset.synthetic of a manifest to what the generator takes, and names the folder of the generated
// data set.

/// The specification: the preset, if there is one, in the size that `vertices` or `scale` sets. Other given
/// numbers replace the preset's. Throws Error where the preset can't have that size.
CommunitySpec community_spec(const SyntheticSpec& synthetic);

/// A folder below the data root whose name depends on everything in the spec. The data set in it is made once
/// and used again.
std::filesystem::path synthetic_folder(const std::filesystem::path& data_root,
                                       const SyntheticSpec& synthetic);

}  // namespace atl
