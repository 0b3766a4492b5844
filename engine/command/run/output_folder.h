// The output folder at the start of a run: whether it may go on with what lies there, and which attempt this
// is.
#pragma once

#include <filesystem>
#include <string>

#include "base/atomic_file.h"
#include "base/stop.h"
#include "command/job_data.h"
#include "job/job.h"

namespace atl {

struct OutputOptions {
  bool fresh = false;   // start over
  bool resume = false;  // fail unless there is a checkpoint
  int attempt = 0;      // this start's number; 0: one more than the newest
  std::string run{};    // who counts the attempts (train/checkpoint/attempt.h)
};

/// Throws Error unless the run that the folder holds, if any, may go on as this job. Changes nothing.
void check_resumable(const std::filesystem::path& output, const Job& job, const OutputOptions& options);
/// Of a run that goes on: says where the graph is cut into another number of slices, or divided over another
/// number of servers, than until now, because that follows from the ranks.
void say_other_division(const std::filesystem::path& output, const Job& job, const OutputOptions& options,
                        Say say);

/// Throws Error where there can't be a folder.
void make_output_folder(const std::filesystem::path& output);

/// Makes the folder, claims the attempt, writes job.yaml (the manifest as run) and returns the attempt's
/// number. Where the run starts over, the old checkpoints are set aside before the new manifest comes
/// (train/checkpoint/attempt.h): one job's manifest never stands beside another's checkpoints.
int make_output(const std::filesystem::path& output, const Job& job, const OutputOptions& options);

// Who has an output folder: one process at a time writes to it. The kernel holds the lock (flock) for as long
// as the process lives, so that neither a kill nor a process id that is used again can make it lie; the file
// says who has it.

class OutputLock {
 public:
  /// Makes the folder where there is none, and takes <output>/lock. A lock that a process of this machine
  /// left when it was killed is broken, and `say` is told. Throws Error naming who has the folder; where that
  /// is a process of another machine that can't be judged from here, with the file to remove.
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
