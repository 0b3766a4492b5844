// A folder in memory for Open MPI's session files and shared segments. It is gone when the launch is over;
// what a launcher left that was killed is removed by the next one.
#pragma once

#include <filesystem>
#include <vector>

#include "base/atomic_file.h"

namespace atl {

class Scratch {
 public:
  /// In /dev/shm, in TMPDIR or in /tmp: the first that takes a folder and has room for what ranks share.
  /// Removes there the folders of our user's launchers that have ended: whoever lives holds a lock (flock) on
  /// its own. Throws Error, with what each place lacks, where there is none.
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
