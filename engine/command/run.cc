// atoll run: trains a manifest on this machine, or on servers that see its files. Prepares everything, starts one
// `atoll train` a rank under mpirun, and watches over them.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "command/commands.h"
#include "command/rank_style.h"
#include "command/run_plan.h"
#include "launch/launch.h"
#include "partition/part_ranks.h"

namespace atl {
namespace {

void say(const std::string& line) {
  std::fprintf(stderr, "atoll: %s\n", line.c_str());
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
                                   "--threads",
                                   std::to_string(plan.threads),
                                   "--style",
                                   chosen_style(a, stdout),
                                   "--started",
                                   fmt::format("{}", started),
                                   "--parts",
                                   parts_text(plan.parts),
                                   "--attempt",
                                   std::to_string(plan.attempt)};
  for (const char* option : {"--timeout", "--metrics", "--trace-epochs"}) {
    if (a.has(option)) program.insert(program.end(), {option, a.get(option)});
  }
  if (a.has("--trace")) program.insert(program.end(), {"--trace", full(a.get("--trace"))});
  return program;
}

/// The file is written when the run is over: too late to learn that it can't be.
void check_trace(const Arguments& a) {
  a.integer("--trace-epochs", 1, 1, kMostTraceEpochs);
  if (a.has("--trace-epochs") && !a.has("--trace"))
    fail("--trace-epochs: there is no --trace that they would go to");
  if (!a.has("--trace")) return;
  const auto folder = std::filesystem::absolute(a.get("--trace")).parent_path();
  if (!std::filesystem::is_directory(folder))
    fail("--trace: {} is not a folder (make it, or choose another place)", folder.string());
}

/// Of what goes to the ranks as it is: refused here, once and before there is an output folder.
void check_options(const Arguments& a) {
  if (a.has("--json") && a.has("--quiet")) fail("--json and --quiet exclude each other");
  a.integer("--timeout", 1, 1, kLongestTimeout);
  check_trace(a);
  if (a.has("--metrics")) metrics_place(a.get("--metrics"), {}, 0);
}

/// After an end that wasn't the job's. A rank that failed by itself has said why and what to change: unchanged, it would
/// fail again.
std::string what_next(const LaunchEnd& end, const std::string& output) {
  const bool interrupted = end.status == kStatusInterrupted, lost = !end.reason.empty();
  if (interrupted || lost) {
    return fmt::format("{}; the same command goes on from the last checkpoint in {}",
                       interrupted ? "stopped" : "failed", output);
  }
  return fmt::format("failed for the reason above; what it saved stays in {}", output);
}

int run(const Arguments& a) {
  const double started = steady_seconds();
  check_options(a);
  const RunPlan plan = plan_run(a, say);
  LaunchPlan launched;
  launched.ranks = plan.job.placement.ranks;
  launched.hosts = plan.hosts;
  launched.program = rank_program(a, plan, started);
  launched.message = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  const LaunchEnd end = launch(launched);
  if (!end.reason.empty()) say(end.reason);
  if (end.status != 0) say(what_next(end, plan.output.string()));
  return end.status;
}

}  // namespace

Command run_command() {
  return {"run",
          "train a manifest on this machine",
          {{"-f,--file", "FILE", "the manifest (gnnjob.yaml)", true},
           {"--ranks", "N", "number of processes, in place of placement.ranks"},
           {"--threads", "N", "threads of each rank (resources.cpu, or the machine's cores shared out)"},
           {"--data-root", "DIR", "where data sets lie (ATOLL_DATA_ROOT, or ./datasets)"},
           {"--output", "DIR", "where results go (./runs/ and output.path)"},
           {"--set", "FIELD=VALUE", "change a field of the manifest; may be repeated", false, true},
           {"--resume", "", "fail unless there is a checkpoint to go on from"},
           {"--fresh", "", "start over, even where there is a checkpoint"},
           {"--json", "", "print one JSON object a line"},
           {"--quiet", "", "print warnings and errors alone"},
           {"--hosts", "HOST,HOST,…", "servers for the ranks (ATOLL_HOSTS, or this machine)"},
           {"--shell", "COMMAND", "reaches one: its name and a command go behind it (ATOLL_SHELL, or ssh)"},
           {"--timeout", "SECONDS", "longest wait for a rank that doesn't answer (300)"},
           {"--trace", "FILE", "write what each rank did when, for chrome://tracing and Perfetto"},
           {"--trace-epochs", "N", "how many of the last epochs (3)"},
           {"--metrics", "[HOST:]PORT", "serve /metrics, /progress and /healthz of all ranks"}},
          run};
}

}  // namespace atl
