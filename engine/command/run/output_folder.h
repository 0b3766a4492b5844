// The output folder at the start of a run: whether it may go on with what lies there, and which attempt this is.
#pragma once

#include <filesystem>
#include <string>

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
/// Of a run that goes on: says where the graph is cut into another number of slices, or divided over another number of servers, than
/// until now, because that follows from the ranks.
void say_other_division(const std::filesystem::path& output, const Job& job, const OutputOptions& options,
                        Say say);

/// Throws Error where there can't be a folder.
void make_output_folder(const std::filesystem::path& output);

/// Makes the folder, claims the attempt, writes job.yaml (the manifest as run) and returns the attempt's number. Where the
/// run starts over, the old checkpoints are set aside before the new manifest comes (train/checkpoint/start_over.h): one job's manifest
/// never stands beside another's checkpoints.
int make_output(const std::filesystem::path& output, const Job& job, const OutputOptions& options);

}  // namespace atl
