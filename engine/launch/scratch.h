// A folder in memory for Open MPI's session files and shared segments. It is removed when the launch is over.
// The next launcher removes those that killed launchers have left.
#pragma once

#include <filesystem>
#include <vector>

#include "base/atomic_file.h"

namespace atl {

class Scratch {
 public:
  /// Uses /dev/shm, TMPDIR or /tmp: the first that takes a folder and has room for what ranks share. Removes
  /// there the folders of the same user's launchers that have ended; a living one holds a lock (flock) on its
  /// own. Throws Error, with what each place lacks, where none will do.
  Scratch();
  explicit Scratch(const std::vector<std::filesystem::path>& places);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_{-1};
};

}  // namespace atl
