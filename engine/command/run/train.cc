// atoll train: one rank, started by `atoll run` or the operator's launcher; not for people.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "command/run/job_room.h"
#include "command/run/output_folder.h"
#include "command/run/rank_start.h"
#include "job/load.h"
#include "launch/launch.h"
#include "launch/places.h"
#include "launch/rank_guard.h"
#include "partition/local_graph.h"
#include "train/checkpoint/checkpoint.h"
#include "train/rank_device.h"
#include "train/results.h"
#include "train/session.h"

namespace atl {
namespace {

std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Loads the manifest as a run wrote it or, if the ranks make the output folder, as the user gave it.
/// --strategy replaces its strategy by the chosen one.
void take_job(const Arguments& a, SessionOptions& options) {
  const std::string file = a.get("--job"), strategy = a.get("--strategy");
  std::vector<Override> overrides;
  if (!strategy.empty()) overrides.push_back("strategy=" + strategy);
  LoadedJob loaded = load_job(file, overrides);
  const bool is_written = strategy.empty() && !a.has("--make-output");
  if (a.has("--make-output")) {
    settle_self_loops(loaded);
    go_on_with_self_loops(a.get("--output"), loaded);
  }
  options.job = loaded.job;
  options.job_yaml = is_written ? text_of(file) : write_job(options.job);
}

/// The planned bytes on the GPU. They aren't known for mini-batches, which differ, and whose features stay on
/// the host.
Index device_bytes(const JobPlan& plan, int part) {
  const RankPlan& of = plan.ranks[std::size_t(part)];
  return of.shape.batches ? 0 : of.memory.on_device();
}

SessionOptions options_of(const Arguments& a, Rank rank, int ranks) {
  SessionOptions options;
  options.build = build_id();
  take_job(a, options);
  options.dataset = a.get("--dataset");
  options.prepared = prepared_place(a);
  options.prepared_checksum = a.get("--prepared-checksum");
  options.output = a.get("--output");
  options.threads = own_threads(a, options.job, rank);
  options.machine = machine_line();
  if (a.has("--parts")) options.parts = read_parts(a.get("--parts"), ranks, "--parts");
  options.attempt = int(a.integer("--attempt", 0, 0, 1'000'000'000));
  options.trace = a.get("--trace");
  options.trace_epochs = int(a.integer("--trace-epochs", options.trace_epochs, 1, kMostTraceEpochs));
  options.start_seconds = start_seconds_of(a);
  options.stop = &stop_requested();
  const int part = options.parts.empty() ? rank : options.parts[std::size_t(rank)];
  options.planned_bytes = [job = options.job, threads = options.threads, part](
                              const Dataset& dataset, const PreparedGraph& prepared) {
    return device_bytes(memory_plan(job, dataset, prepared, threads), part);
  };
  return options;
}

/// Claims the output folder, for ranks whose starter doesn't see it. Returns the attempt's number, which a
/// finished run doesn't have.
int claim_output(const SessionOptions& o, const std::string& run) {
  const OutputOptions options{.attempt = o.attempt, .run = run};
  bring_back(o.output);  // undoes an `atoll run --fresh` of this folder that was killed
  check_resumable(o.output, o.job, options);
  if (has_checkpoint(o.output) &&
      finished_run(o.output, o.job, Dataset::open(o.dataset, o.prepared).meta().checksum))
    return o.attempt;
  return make_output(o.output, o.job, options);
}

/// The ranks on this machine, or in this pod, including `rank`.
std::vector<Rank> ranks_here(const Arguments& a, Rank rank, int ranks) {
  if (a.has("--places")) return ranks_beside(a.get("--places"), rank);
  std::vector<Rank> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// From the first step on, makes a request to stop wait for the end of the step. It is each rank's first
/// observer, because the others write files.
class StepsBegin : public RunObserver {
 public:
  void on_start(const RunRecord&) override { let_steps_end(); }
};

std::unique_ptr<RunObserver> observers_of(const Arguments& a, Rank rank, int ranks, pid_t starter,
                                          const WaitBoard& waits) {
  auto observers = std::make_unique<ObserverList>();
  observers->add(std::make_unique<StepsBegin>());
  observers->add(make_observers(a.get("--style", "lines"), a.get("--output"), rank, a.has("--result-line")));
  if (a.has("--metrics")) {
    const MetricsPlace place = metrics_place(a.get("--metrics"), ranks_here(a, rank, ranks), starter);
    observers->add(std::make_unique<MetricsServer>(place, rank, waits));
  }
  return observers;
}

/// Warns while the rank still waits, because the wait may end well.
void say_wait(int rank, const std::string& news, std::chrono::seconds timeout) {
  std::fprintf(stderr, "atoll: warning: rank %d on %s: %s; it waits for %lld s at most (--timeout)\n", rank,
               host_name().c_str(), news.c_str(), static_cast<long long>(timeout.count()));
}

/// Ends the rank with a failed status, by which mpirun learns of the failure. The other ranks wait for
/// messages that will never come.
[[noreturn]] void end_failed(int rank, int ranks, const std::string& why) {
  const std::string words = ranks > 1 ? rank_failure(rank, host_name(), why) : "atoll: " + why;
  std::fprintf(stderr, "%s\n", words.c_str());
  std::fflush(nullptr);
  std::_Exit(kStatusFailed);
}

/// Sets a time limit for leaving, and tells the starter that the rank leaves. By now only the starter, and
/// other ranks in MPI_Finalize, wait for the rank.
void leave(std::optional<EndUnlessDone>& leaving, int rank, int ranks, std::chrono::seconds timeout) {
  const auto patience = ranks_leave_patience_of(timeout);
  const std::string words = fmt::format(
      "atoll: rank {} of {} on {}: the run's files are written, but MPI did not shut down within {} s: "
      "another rank hangs or can't be reached",
      rank, ranks, host_name(), patience.count());
  leaving.emplace(patience, words, kStatusFailed, rank_news(rank, host_name(), RankWord::kLeaves));
}

int run_train(const Arguments& a) {
  const int rank = from_mpirun("OMPI_COMM_WORLD_RANK", 0), ranks = from_mpirun("OMPI_COMM_WORLD_SIZE", 1);
  const pid_t starter = ranks > 1 ? leave_witness(rank, host_name()) : getppid();
  return_freed_memory();
  end_with_parent();
  listen_for_stop();
  dprintf(STDERR_FILENO, "%s\n", rank_news(rank, host_name(), RankWord::kStarted).c_str());
  std::optional<EndUnlessDone> leaving;  // outlives all that may hang while it is destroyed
  try {
    const RankStart start{rank, ranks, std::chrono::seconds(a.integer("--timeout", 300, 1, kLongestTimeout))};
    SessionOptions options = options_of(a, rank, ranks);
    if (a.has("--places")) check_place(a.get("--places"), rank, host_name());
    if (a.has("--run")) end_earlier_ranks(a.get("--run"), options.attempt);
    if (a.has("--make-output") && rank == 0) options.attempt = claim_output(options, a.get("--run"));
    const RankDevice device = device_of(a, options.job, start);
    options.device = &device;
    const auto watch = watch_alone(device, start);
    WaitBoard waits([&](const std::string& news) { say_wait(rank, news, start.timeout); });
    const auto observer = observers_of(a, rank, ranks, starter, waits);
    options.observer = observer.get();
    std::optional<Trace> trace;
    if (a.has("--trace")) trace.emplace();
    std::string why_staged;
    Communicator comm =
        open_communicator(start, device,
                          {.timeout = start.timeout,
                           .waits = &waits,
                           .trace = trace ? &*trace : nullptr,
                           .on_stuck = [&](const std::string& why) { end_failed(rank, ranks, why); }},
                          why_staged);
    if (rank == 0) say_ways(device, options.job, comm, why_staged);
    options.cpus = take_cpus(comm, options.threads);
    run_session(comm, options);
    leave(leaving, rank, ranks, start.timeout);
    return 0;
  } catch (const std::bad_alloc&) {
    end_failed(rank, ranks,
               out_of_memory("this rank") + "; `atoll plan` shows what each rank needs, and of what");
  } catch (const std::exception& error) {
    end_failed(rank, ranks, printable(error.what()));
  }
}

}  // namespace

Command train_command() {
  Command command{
      "train",
      "run one rank (`atoll run` calls it)",
      {{"--job", "FILE", "the manifest as run", true},
       {"--strategy", "YAML", "what strategy auto of the manifest stands for, on one line"},
       {"--dataset", "DIR", "the data set", true},
       prepared_argument(),
       {"--prepared-checksum", "SHA256", "what the prepared graph must be: ranks compare its files with it"},
       {"--output", "DIR", "the output folder", true},
       {"--threads", "N", "threads of this rank (resources.cpu, or its share of its machine's cores)"},
       {"--device", "NAME", "auto, cpu or cuda (auto: a GPU where there is one)"},
       {"--cuda-graphs", "on|off", "replay steps on a GPU as CUDA graphs (on)"},
       {"--sums", "NAME", "whose kernels sum over neighbours on a GPU: atoll or cusparse (atoll)"},
       {"--style", "NAME", "json, quiet, terminal or lines"},
       {"--started", "SECONDS", "steady clock when the run was started"},
       {"--spent", "SECONDS", "how long the run had taken on another machine, which started this rank"},
       {"--parts", "P,P,...", "the part that each rank trains (its own number)"},
       {"--attempt", "N", "number of this start; 0: the newest start's plus one"},
       {"--run", "ID", "run that counts these starts; in another run's folder it goes on from that run"},
       {"--make-output", "", "rank 0: make the output folder, or go on in it"},
       {"--places", "HOST[@NODE]:RANKS;...", "host that each rank must run on, and the host's machine"},
       {"--result-line", "", "rank 0: print the result on standard error, too"},
       {"--trace", "FILE", "rank 0: file for a timeline of every rank"},
       {"--trace-epochs", "N", "with --trace: number of last epochs to record (3)"},
       {"--timeout", "SECONDS", "how long to wait for another rank (300)"},
       {"--metrics", "[HOST:]PORT", "serve the metrics of this server's ranks"}},
      run_train};
  command.caller = "atoll run";
  return command;
}

}  // namespace atl
