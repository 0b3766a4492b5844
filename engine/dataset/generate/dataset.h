// Writes a generated graph as a data set on disk.
#pragma once

#include <filesystem>

#include "dataset/generate/generate.h"
#include "dataset/writer.h"

namespace atl {

struct GenerateOptions {
  bool replace = false;   // whether an existing data set may be replaced
  bool float16 = false;   // store features in half precision
  int threads = 0;        // 0: all cores that this process may use
  ProgressLine progress;  // may be empty
};

/// Writes the graph to the folder `place`. The same spec gives the same bytes on any number of threads.
/// Throws Error and leaves nothing behind if the spec or the place won't do, and at once if the disk has too
/// little room. Memory: about 20 bytes per vertex, the writer's sort, and the targets if multi-label.
DatasetMeta generate_dataset(const CommunitySpec& spec, const std::filesystem::path& place,
                             const GenerateOptions& options);

}  // namespace atl
