// A generated graph as a data set on disk.
#pragma once

#include <filesystem>

#include "dataset/generate/generate.h"
#include "dataset/writer.h"

namespace atl {

struct GenerateOptions {
  bool replace = false;   // a data set that is there already may be replaced
  bool float16 = false;   // store features in half precision
  int threads = 0;        // 0: all cores that this process may use
  ProgressLine progress;  // may be empty
};

/// Writes the graph to the folder `place`; the same spec gives the same bytes on any number of threads.
/// Throws Error and leaves nothing behind where the spec or the place won't do, and at once where the disk
/// has too little room. Memory: about 20 bytes a
/// vertex, the writer's sort, and for multi-label the targets.
DatasetMeta generate_dataset(const CommunitySpec& spec, const std::filesystem::path& place,
                             const GenerateOptions& options);

}  // namespace atl
