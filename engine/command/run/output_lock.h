// Who has an output folder: one process at a time writes to it. The kernel holds the lock (flock) for as long as the process
// lives, so that neither a kill nor a process id that is used again can make it lie; the file says who has it.
#pragma once

#include <filesystem>
#include <string>

#include "base/descriptor.h"
#include "base/stop.h"

namespace atl {

class OutputLock {
 public:
  /// Makes the folder where there is none, and takes <output>/lock. A lock that a process of this machine left when it was
  /// killed is broken, and `say` is told. Throws Error naming who has the folder; where that is a process of another machine
  /// that can't be judged from here, with the file to remove.
  OutputLock(const std::filesystem::path& output, void (*say)(const std::string& line));
  /// Removes the file, and the folders that were made for it where nothing else is in them.
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  /// No stop comes between the file and at_stop_.
  OutputLock(const std::filesystem::path& output, void (*say)(const std::string& line), const StopsTaken&);
  void enter() const;
  void give_back() const;

  std::filesystem::path output_;
  std::filesystem::path made_;  // the outermost folder that wasn't there before; empty: all were
  Descriptor file_;
  AtStop at_stop_;  // gives it back, too
};

}  // namespace atl
