// Settles what `atoll run` and `atoll plan` need first: the manifest, its data set, and that the two fit.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/text.h"
#include "command/command_line.h"
#include "dataset/dataset.h"
#include "job/job.h"
#include "job/load.h"
#include "partition/prepared_graph.h"
#include "tensor/rates.h"

namespace atl {

/// A function that receives lines about work that takes time.
using Say = void (*)(const std::string& line);

/// Loads --file, with --ranks and --set applied. `say` gets the warnings.
LoadedJob load_job_of(const Arguments& arguments, Say say);

/// Opens the job's data set, below --data-root: a stored one, or a generated one, which is made if need be.
/// Its graphs are prepared in --prepared's folder. Every byte of files that were there already is checked
/// against its checksum. Throws Error where there is no data set, or the manifest can't be trained on it.
Dataset dataset_of(const Arguments& arguments, const LoadedJob& loaded, Say say);

/// The folder of the data set that dataset_of() finds or makes; reads nothing.
std::filesystem::path dataset_place(const Arguments& arguments, const Job& job);

/// The data set of a name that a user gives: a folder or, where there is no such folder, a name below
/// ./datasets or ATOLL_DATA_ROOT. Throws Error as Dataset::open() where it is neither.
std::filesystem::path stored_dataset(const std::string& called);

/// Whether prepare_graph() would find the graph already made.
bool is_prepared(const LoadedJob& loaded, const Dataset& dataset);

/// The job's graph, prepared for its ranks. Makes it if need be, and then first says how much memory that
/// takes at most.
PreparedGraph prepare_graph(const LoadedJob& loaded, const Dataset& dataset, Say say);

/// The most ranks that share a host. `hosts` (ranks): the host of each.
int most_on_one_host(const std::vector<std::string>& hosts);
/// Each rank's threads as --threads or resources.cpu states them. None: each rank takes its share of the
/// cores of its own machine.
std::optional<int> stated_threads(const Arguments& arguments, const Job& job);
/// The stated threads or, where nothing states them, an equal share of this machine's cores among the ranks
/// of a host, as a plan assumes. `hosts` (ranks): the host of each, taken to have as many cores as this
/// machine; empty: all ranks run here.
int threads_of(const Arguments& arguments, const Job& job, const std::vector<std::string>& hosts = {});

// A reminder for work that can't tell how far it is, such as METIS dividing a graph. While the work goes on,
// the user is told now and then how long it has taken.

class Reminder {
 public:
  /// Another thread calls `say` every `interval` while the object lives: "still WORK after 2 min: HINT".
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

/// The argument of every command that makes or reads prepared graphs.
Argument prepared_argument();

/// The folder of --prepared or ATOLL_PREPARED as an absolute path for Dataset::open(); empty: graphs are kept
/// beside each data set.
std::filesystem::path prepared_place(const Arguments& arguments);

// Measures rates of this machine, for commands that predict times.

/// One rank's rates: the rates of the machine with all ranks' threads together, divided by `ranks`. Takes two
/// seconds.
MachineRates measured_rates(int ranks, int threads);

// Decides and tells what is done with self-loops in the data.

/// Makes a run that goes on in `output` keep the choice of its manifest there (job/load.h), unless `loaded`
/// gives another one.
void go_on_with_self_loops(const std::filesystem::path& output, LoadedJob& loaded);

/// A line for the user about self-loops; "" where the data have none.
std::string self_loops_line(const DatasetMeta& meta, const Job& job);

// Checks what a manifest and its data set must agree on before training, and what training needs of the data
// set.

/// Checks that the job can be trained on the data set. Reads labels and split. Throws Error, which names the
/// manifest's line and what to change there, or what to add to the data set.
void check_trainable(const LoadedJob& loaded, const Dataset& dataset);

/// Whether this part of the split has a vertex with a label. Others neither train nor measure.
bool has_labelled(const DatasetSpec& spec, const Dataset& dataset, Split part);

/// A line for each reason why training, though possible, shouldn't be expected to learn much or to show much.
std::vector<std::string> training_doubts(const LoadedJob& loaded, const Dataset& dataset);

/// A remark on a field; without text there is no remark.
struct FieldRemark {
  std::string path, text{};
};

/// The reason in the sampler's options why the job can't be trained.
FieldRemark sampler_fault(const Job& job, const DatasetMeta& meta);
/// The reason in the sampler's options why the job shouldn't be expected to learn much.
FieldRemark sampler_doubt(const Job& job, const DatasetMeta& meta);

// Prepares a data set's graph for a number of ranks as a run would do it, without a manifest.

/// The arguments of partition_graph() except --parts, for a command's table.
std::vector<Argument> partition_arguments();

struct PartitionedGraph {
  PartitionOptions options;
  PreparedGraph graph;
};

/// Opens the prepared graph for `parts` ranks, or makes it. Without splits there are no training vertices to
/// balance. Throws Error where an argument isn't allowed.
PartitionedGraph partition_graph(const Dataset& dataset, int parts, const Arguments& arguments);

}  // namespace atl
