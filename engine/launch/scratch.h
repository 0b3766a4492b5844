// A folder in memory for Open MPI's session files and shared segments. It is gone when the launch is over; what a launcher
// left that was killed is removed by the next one.
#pragma once

#include <filesystem>

#include "base/descriptor.h"

namespace atl {

class Scratch {
 public:
  /// In /dev/shm, or in /tmp where that can't be. Removes there the folders of our user's launchers that have ended: whoever
  /// lives holds a lock (flock) on its own. Throws Error where neither place takes a folder.
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_{-1};
};

}  // namespace atl
