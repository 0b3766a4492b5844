// atoll run: trains a manifest on this machine, or on servers that see its files. It prepares everything,
// starts one `atoll train` per rank under mpirun, and supervises the ranks.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "command/run/plan.h"
#include "command/run/rank_start.h"
#include "launch/launch.h"
#include "partition/local_graph.h"
#include "train/checkpoint/checkpoint.h"
#include "train/rank_device.h"
#include "train/results.h"

namespace atl {
namespace {

/// Prints only warnings: it takes the place of say() with --quiet.
void say_warnings(const std::string& line) {
  if (line.starts_with("warning: ")) say(line);
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The command line of one rank.
std::vector<std::string> rank_program(const Arguments& a, const RunPlan& plan, double started) {
  const auto full = [](const std::filesystem::path& path) {
    return std::filesystem::absolute(path).string();
  };
  std::vector<std::string> program{std::filesystem::read_symlink("/proc/self/exe").string(),
                                   "train",
                                   "--job",
                                   full(plan.output / "job.yaml"),
                                   "--dataset",
                                   full(plan.dataset),
                                   "--output",
                                   plan.output.string(),
                                   "--style",
                                   chosen_style(a, stdout),
                                   "--parts",
                                   parts_text(plan.parts),
                                   "--attempt",
                                   std::to_string(plan.attempt)};
  for (std::string& word : start_words(plan.hosts, started, steady_seconds()))
    program.push_back(std::move(word));
  if (const auto threads = stated_threads(a, plan.job))
    program.insert(program.end(), {"--threads", std::to_string(*threads)});
  for (const char* option :
       {"--timeout", "--metrics", "--trace-epochs", "--device", "--cuda-graphs", "--sums"}) {
    if (a.has(option)) program.insert(program.end(), {option, a.get(option)});
  }
  if (const auto prepared = prepared_place(a); !prepared.empty())
    program.insert(program.end(), {"--prepared", prepared.string()});
  if (a.has("--trace")) program.insert(program.end(), {"--trace", full(a.get("--trace"))});
  return program;
}

/// Checks that the trace can be written. It is written when the run is over, which is too late to fail.
void check_trace(const Arguments& a) {
  a.integer("--trace-epochs", 1, 1, kMostTraceEpochs);
  if (a.has("--trace-epochs") && !a.has("--trace"))
    fail("--trace-epochs: needs --trace FILE (use both, or neither)");
  if (!a.has("--trace")) return;
  const auto file = std::filesystem::absolute(a.get("--trace")), folder = file.parent_path();
  if (!std::filesystem::is_directory(folder))
    fail("--trace: {} is not a folder (create it, or choose another)", folder.string());
  if (std::filesystem::is_directory(file)) fail("--trace: {} is a folder (name a file in it)", file.string());
  if (!may_become_a_file(file))
    fail("--trace: {} is a device or a pipe, and a file would take its place (name a file)", file.string());
  if (access(folder.c_str(), W_OK) != 0)
    fail("--trace: {} can't be written: {} (choose another folder)", folder.string(), std::strerror(errno));
}

std::chrono::seconds timeout_of(const Arguments& a) {
  return std::chrono::seconds(a.integer("--timeout", 300, 1, kLongestTimeout));
}

/// Checks options that are passed on to the ranks, so that they are refused once, before there is an output
/// folder.
void check_options(const Arguments& a) {
  if (a.has("--json") && a.has("--quiet")) fail("--json and --quiet exclude each other (use one)");
  timeout_of(a);
  check_trace(a);
  device_choice(a.get("--device", "auto"));
  gpu_options(a.get("--cuda-graphs", "on"), a.get("--sums", "atoll"));
  if (a.has("--metrics")) metrics_place(a.get("--metrics"), {}, 0);
}

/// Trains. Restores the earlier run if --fresh was given and the ranks ended before their first checkpoint.
LaunchEnd train(const LaunchPlan& launched, const std::filesystem::path& output) {
  try {
    const LaunchEnd end = launch(launched);
    if (bring_back(output)) say(fmt::format("{} is as it was before --fresh", output.string()));
    return end;
  } catch (const Error&) {
    bring_back(output);
    throw;
  }
}

/// Advice after an end that isn't the job's fault. A rank that failed by itself has said why and what to
/// change; unchanged, it would fail again.
std::string what_next(const LaunchEnd& end, const std::string& output, bool fresh) {
  const bool interrupted = end.status == kStatusInterrupted, lost = !end.reason.empty();
  const bool saved = has_checkpoint(output);
  if (interrupted || lost) {
    const char* how = interrupted ? "stopped" : "failed";
    if (saved)
      return fmt::format("{}; the same command{} goes on from the last checkpoint in {}", how,
                         fresh ? " without --fresh" : "", output);
    return fmt::format("{} before the first checkpoint; the same command starts from the beginning", how);
  }
  if (!std::filesystem::exists(output)) return "failed for the reason above";
  return fmt::format("failed for the reason above; {} {}",
                     saved ? "its checkpoints stay in" : "what it wrote is in", output);
}

/// The exit status if standard output is incomplete: the run's files are whole, but a reader of the output
/// has missed lines.
int tell_output(const LaunchEnd& end, const std::filesystem::path& output) {
  if (end.output_failure == 0) return end.status;
  say(fmt::format("standard output: can't be written: {}; the epochs are in {}",
                  std::strerror(end.output_failure), (output / "metrics.jsonl").string()));
  return end.status == 0 ? kStatusFailed : end.status;
}

int tell_finished(const Arguments& a, const RunRecord& run, const Job& job) {
  if (!a.has("--quiet")) say(finished_words(run, job));
  make_narrator(chosen_style(a, stdout))->on_result(run);
  return 0;
}

int run_command(const Arguments& a) {
  const double started = steady_seconds();
  check_options(a);
  const RunPlan plan = plan_run(a, a.has("--quiet") ? say_warnings : say);
  if (plan.finished) return tell_finished(a, *plan.finished, plan.job);
  LaunchPlan launched;
  launched.ranks = plan.job.placement.ranks;
  launched.hosts = plan.hosts;
  launched.program = rank_program(a, plan, started);
  launched.start_patience = start_patience_of(timeout_of(a));
  launched.leave_patience = leave_patience_of(timeout_of(a));
  launched.message = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  launched.stopping = [] { say("stopping (a second request kills the ranks)"); };
  const LaunchEnd end = train(launched, plan.output);
  if (!end.reason.empty()) say(end.reason);
  if (end.status != 0) say(what_next(end, plan.output.string(), a.has("--fresh")));
  return tell_output(end, plan.output);
}

}  // namespace

Command run_command() {
  return {
      "run",
      "train a model as a manifest says, on this machine or on --hosts",
      {{"-f,--file", "FILE", "the manifest (gnnjob.yaml); - reads standard input", true},
       {"--ranks", "N", "number of ranks, instead of placement.ranks"},
       {"--threads", "N", "threads per rank (resources.cpu, or the machine's cores divided among its ranks)"},
       {"--device", "NAME",
        "auto, cpu or cuda; a GPU needs build/atoll-cuda (auto: a GPU where there is one)"},
       {"--cuda-graphs", "on|off", "replay steps on a GPU as CUDA graphs (on)"},
       {"--sums", "NAME", "whose kernels sum over neighbours on a GPU: atoll or cusparse (atoll)"},
       {"--data-root", "DIR", "folder that holds the data sets (ATOLL_DATA_ROOT, or ./datasets)"},
       prepared_argument(),
       {"--output", "DIR", "folder for results (./runs/OUTPUT.PATH)"},
       {"--set", "FIELD=VALUE", "override a field of the manifest; may be repeated", false, true},
       {"--resume", "", "go on from a checkpoint, and fail if there is none"},
       {"--fresh", "", "start over, even if there is a checkpoint"},
       {"--json", "", "print one JSON object per line"},
       {"--quiet", "", "print only warnings and errors"},
       {"--hosts", "HOST,HOST,...", "servers to run the ranks on (ATOLL_HOSTS, or this machine)"},
       {"--shell", "COMMAND", "remote shell, called with a host's name and a command (ATOLL_SHELL, or ssh)"},
       {"--timeout", "SECONDS", "how long to wait for a rank that doesn't answer (300)"},
       {"--trace", "FILE", "write a timeline of every rank, for chrome://tracing and Perfetto"},
       {"--trace-epochs", "N", "with --trace: number of last epochs to record (3)"},
       {"--metrics", "[HOST:]PORT", "serve /metrics, /progress and /healthz of all ranks"}},
      run_command};
}

}  // namespace atl
