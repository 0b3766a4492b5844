// What `atoll run` and `atoll plan` settle alike before anything else: the manifest, its data set, and that
// the two fit.
#pragma once

#include <fmt/format.h>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "base/text.h"
#include "command/command_line.h"
#include "dataset/dataset.h"
#include "job/load.h"
#include "partition/prepared_graph.h"
#include "tensor/rates.h"

namespace atl {

/// Told what takes time.
using Say = void (*)(const std::string& line);

/// --file with --ranks and --set applied; warnings are said.
LoadedJob load_job_of(const Arguments& arguments, Say say);

/// The job's data set, opened, below --data-root: a stored one, or a generated one, made if need be; graphs
/// are prepared of it where --prepared says. Every byte of what was there already is checked against its
/// checksum. Throws Error where there is none, or where the manifest can't be trained on it (training_fit.h).
Dataset dataset_of(const Arguments& arguments, const LoadedJob& loaded, Say say);

/// The folder of the data set that dataset_of() finds or makes, without a look at it.
std::filesystem::path dataset_place(const Arguments& arguments, const Job& job);

/// What a person calls a data set: its folder, or, where there is no such folder, its name below ./datasets
/// or ATOLL_DATA_ROOT. Throws Error as Dataset::open() where it is neither.
std::filesystem::path stored_dataset(const std::string& called);

/// Whether prepare_graph() has nothing to make.
bool is_prepared(const LoadedJob& loaded, const Dataset& dataset);

/// The job's graph prepared for its ranks, made if need be: then `say` is told how much memory that takes at
/// most.
PreparedGraph prepare_graph(const LoadedJob& loaded, const Dataset& dataset, Say say);

/// Of each rank: --threads, or resources.cpu, or the machine's cores shared out.
int threads_of(const Arguments& arguments, const Job& job);

// Work that can't tell how far it is, such as METIS dividing a graph: while it goes on, the user hears now
// and then for how long.

class Reminder {
 public:
  /// `say` is called by another thread every `interval` while this lives: "still WORK after 2 min: HINT".
  template <class Say>
  Reminder(Say say, const std::string& work, const std::string& hint,
           std::chrono::milliseconds interval = std::chrono::minutes(1))
      : thread_([=](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any never;
          std::unique_lock lock(mutex);
          for (auto passed = interval;; passed += interval) {
            never.wait_for(lock, stop, interval, [] { return false; });
            if (stop.stop_requested()) return;
            say(fmt::format("still {} after {}{}{}", work,
                            duration_text(std::chrono::duration<double>(passed).count()),
                            hint.empty() ? "" : ": ", hint));
          }
        }) {}

 private:
  std::jthread thread_;
};

// --prepared: where commands keep prepared graphs, and find them.

/// Of every command that makes or reads prepared graphs.
Argument prepared_argument();

/// --prepared's folder, or ATOLL_PREPARED's, as whole path, for Dataset::open(); empty: beside each data set.
std::filesystem::path prepared_place(const Arguments& arguments);

// What this machine can do, for commands that predict times.

/// Of one of `ranks`: the machine's, by as many threads as all have together, shared out among them. Takes
/// two seconds.
MachineRates measured_rates(int ranks, int threads);

// What becomes of the self-loops that the data have.

/// A run that goes on in `output` keeps to what its manifest there says (job/load.h), unless `loaded` gives
/// something else itself.
void go_on_with_self_loops(const std::filesystem::path& output, LoadedJob& loaded);

/// For the user; "" where the data have none.
std::string self_loops_line(const DatasetMeta& meta, const Job& job);

}  // namespace atl
