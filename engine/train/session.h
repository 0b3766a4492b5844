// The training of one rank, from an opened data set to the files in the output folder.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"
#include "telemetry/observer.h"
#include "telemetry/record.h"
#include "train/rank_device.h"

namespace atl {

class Trainer;

/// What `atoll train` gives each rank. The same on all ranks, except `observer`.
struct SessionOptions {
  std::string build;               // build_id() of the rank's program
  Job job;                         // complete (load_job)
  std::string job_yaml;            // the manifest as run
  std::filesystem::path dataset;   // the data set's folder
  std::filesystem::path prepared;  // as Dataset::open()'s `elsewhere`
  /// The prepared graph's checksum, with which ranks compare it; "": not known.
  std::string prepared_checksum{};
  std::filesystem::path output;  // exists where rank 0 runs; no other rank uses it
  int threads = 1;
  const RankDevice* device = nullptr;  // not owned; null: the CPU. The same kind on all ranks
  /// The bytes of a GPU's memory that the rank will hold while it trains, which are allocated at once; 0, or
  /// no function: unknown.
  std::function<Index(const Dataset&, const PreparedGraph&)> planned_bytes;
  std::vector<int> cpus;   // (threads) the one that each is bound to; empty: the kernel chooses
  std::string machine;     // from machine_line(): one line of the run's record
  std::vector<int> parts;  // (ranks) the part that each trains; empty: the one with its own number
  int attempt = 0;         // 0: one more than the newest (checkpoint.h)
  // File for the communicator's trace, written at the end on rank 0; empty: none.
  std::filesystem::path trace;
  int trace_epochs = 3;                     // how many of the last epochs it shows
  double start_seconds = 0;                 // clock (steady) at process start, for startupSeconds
  RunObserver* observer = nullptr;          // told on every rank; must not be null
  const std::atomic<bool>* stop = nullptr;  // set by a signal: finish the step, checkpoint, end
};

enum class Outcome { kCompleted, kStoppedEarly, kInterrupted };

/// Runs this rank until the job is done or stopped. Collective over `comm`. Throws Error for everything that
/// a user can mend.
Outcome run_session(Communicator& comm, const SessionOptions& options);

// Where and on what a run takes place: the part of its record that is known before the first epoch.

RunSetting run_setting(Communicator& comm, const SessionOptions& options, const DatasetMeta& dataset,
                       Trainer& trainer);

/// One line: processor, cores, memory.
std::string machine_line();
/// The versions of atoll and of its compiler.
std::map<std::string, std::string> build_versions();

}  // namespace atl
