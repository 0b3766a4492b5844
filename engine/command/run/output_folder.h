// The output folder at the start of a run: whether the run may go on with what is there, and the number of
// this attempt.
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
  std::string run{};    // id of the run whose attempts are counted (train/checkpoint/checkpoint.h)
};

/// Throws Error unless the run in the folder, if there is one, may go on as this job. Also throws where a
/// file that belongs to no run would be replaced. Changes nothing.
void check_resumable(const std::filesystem::path& output, const Job& job, const OutputOptions& options);
/// For a resumed run: says if the graph is now cut into another number of slices, or divided over another
/// number of servers. Both follow from the number of ranks.
void say_other_division(const std::filesystem::path& output, const Job& job, const OutputOptions& options,
                        Say say);

/// Throws Error where the folder can't be made, or is a data set's.
void make_output_folder(const std::filesystem::path& output);

/// Makes the folder, claims the attempt, writes job.yaml (the manifest as run) and returns the attempt's
/// number. If the run starts over, old checkpoints are set aside before the new manifest is written
/// (train/checkpoint/checkpoint.h), so that one job's manifest never stands beside another's checkpoints.
int make_output(const std::filesystem::path& output, const Job& job, const OutputOptions& options);

// The lock on an output folder, to which one process at a time may write. The kernel holds the lock (flock)
// for as long as the process lives, so neither a kill nor a reused process id leaves a false lock. The file
// says who holds the lock.

class OutputLock {
 public:
  /// Makes the folder if need be, and takes <output>/lock. Breaks a lock that a killed process of this
  /// machine left, and says so. Throws Error, which names the holder. If the holder is on another machine and
  /// can't be judged from here, the error names the file to remove.
  OutputLock(const std::filesystem::path& output, void (*say)(const std::string& line));
  /// Removes the lock file, and the folders made for it that hold nothing else.
  ~OutputLock();
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  /// Takes stops as an argument so that none comes between making the file and at_stop_.
  OutputLock(const std::filesystem::path& output, void (*say)(const std::string& line), const StopsTaken&);
  void enter() const;
  void give_back() const;

  std::filesystem::path output_;
  std::filesystem::path made_;  // the outermost folder that was made; empty: all existed
  Descriptor file_;
  AtStop at_stop_;  // gives the folder back at a stop, too
};

}  // namespace atl
