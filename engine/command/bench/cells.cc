#include "command/bench/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "command/compare.h"
#include "command/job_data.h"
#include "command/run/job_room.h"
#include "command/run/plan.h"
#include "job/fields.h"
#include "job/load.h"
#include "job/strategies.h"
#include "launch/launch.h"
#include "plan/job_plan.h"
#include "telemetry/run_folder.h"

namespace atl {
namespace {

constexpr int kRarely = 5;  // epochs between evaluations or checkpoints

/// The command line with `changes` after its own --set.
Arguments with_changes(const Arguments& a, const std::vector<std::string>& changes) {
  Arguments changed = a;
  for (const std::string& change : changes) changed.add("--set", change);
  return changed;
}

}  // namespace

BenchCell bench_cell(const Arguments& a, const ListedStrategy& listed) {
  BenchCell cell{listed, {}, {listed.change}};
  cell.job = load_job_of(with_changes(a, cell.changes), say).job;
  TrainingSpec& t = cell.job.training;
  std::vector<std::string> said;
  const auto change = [&](const char* field, int& value, int to, std::string why) {
    cell.changes.push_back(fmt::format("{}={}", field, value = to));
    said.push_back(std::move(why));
  };
  int rarely = kRarely;
  if (t.early_stopping.patience > 0) rarely = std::min(rarely, t.early_stopping.patience);
  if (t.evaluate_every < rarely)
    change("training.evaluateEvery", t.evaluate_every, rarely,
           fmt::format("evaluated every {} epochs instead of {}, so that evaluation hides no communication",
                       rarely, t.evaluate_every));
  CheckpointSpec& c = t.checkpoint;
  if (c.every > 0 && c.every < kRarely)
    change("training.checkpoint.every", c.every, kRarely,
           fmt::format("checkpoints every {} epochs instead of {}, so that others can be timed", kRarely,
                       c.every));
  if (c.every_steps > 0)
    change("training.checkpoint.everySteps", c.every_steps, 0, "no checkpoints within epochs");
  cell.said = joined(said, "; ");
  return cell;
}

/// Rules require that the warm-up of the learning rate ends before the last epoch.
std::vector<std::string> few_epochs(const Job& job) {
  constexpr int kEpochs = 10;
  const int epochs = std::min<int>(job.training.epochs, kEpochs);
  std::vector<std::string> changes{fmt::format("training.epochs={}", epochs),
                                   fmt::format("training.evaluateEvery={}", epochs),
                                   "training.earlyStopping.patience=0"};
  if (job.training.schedule.warmup_epochs >= epochs)
    changes.emplace_back("training.learningRateSchedule.warmupEpochs=0");
  return changes;
}

StrategyRuns planned_runs(const Arguments& a, const BenchCell& cell) {
  check_concrete(cell.job);
  const Arguments changed = with_changes(a, cell.changes);
  const LoadedJob given = load_job_of(changed, say_nothing);
  const Dataset dataset = dataset_of(changed, given, say);
  const std::vector<std::string> hosts = run_hosts(changed, given.job).addresses;
  const int threads = threads_of(changed, given.job, hosts);
  const LoadedJob loaded = within_budget(given, dataset, threads, say);  // in the same way as the runs choose
  const PreparedGraph prepared = prepare_graph(loaded, dataset, say);
  const PlanOptions no_rates{threads, {1, 1, 1}, 1, hosts};  // only the bytes are used
  const Job& job = loaded.job;
  const StrategyInfo& info = *job.strategy.row;
  StrategyRuns runs;
  runs.label = cell.listed.label;
  runs.hides = info.hides_communication(job.strategy.options);
  if (job.task == Task::kLinkPrediction)
    runs.epochs = PlannedBytes::kOfTheFirst;  // each epoch draws other negative pairs
  else if (info.planned_bytes != nullptr)
    runs.epochs = info.planned_bytes(job);
  const JobPlan plan = plan_job(job, dataset, prepared, no_rates);
  runs.planned = plan.epoch;
  runs.planned_between = plan.epoch_between;
  return runs;
}

RunRecord run_cell(const Arguments& a, const BenchCell& cell, const std::filesystem::path& output,
                   const std::vector<std::string>& changes) {
  if (a.get("--file") == kStandardInput)
    fail(
        "--file -: each run reads the manifest again, which standard input can't give twice; store it in a file");
  LaunchPlan plan;
  plan.program = {std::filesystem::read_symlink("/proc/self/exe").string(),
                  "run",
                  "--file",
                  a.get("--file"),
                  "--quiet",
                  "--fresh",
                  "--output",
                  output.string()};
  for (const char* option : {"--ranks", "--threads", "--data-root", "--prepared", "--timeout"})
    if (a.has(option)) plan.program.insert(plan.program.end(), {option, a.get(option)});
  Arguments changed = with_changes(with_changes(a, cell.changes), changes);
  for (const std::string& change : changed.all("--set"))
    plan.program.insert(plan.program.end(), {"--set", change});
  plan.message = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  plan.stop_signal = SIGINT;  // `atoll run` takes it as a request to stop
  const LaunchEnd end = launch(plan);
  if (end.status == kStatusInterrupted) throw BenchInterrupted{};
  if (end.status != 0)
    fail("{}: the run ended with status {}, for the reason above", cell.listed.label, end.status);
  return read_run(output);
}

namespace {

/// Splits the text outside of brackets only, because lists have commas too.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int open = 0;
  for (const char c : text) {
    open += int(c == '[') - int(c == ']');
    if (c == separator && open <= 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Whether every strategy has the field. Unknown names are taken for options of the kind.
bool is_common(const std::string& name) {
  const std::string path = "strategy." + name;
  return std::ranges::any_of(all_fields(), [&](const Field& field) { return field.path == path; });
}

void check_kind(const std::string& kind) {
  std::vector<std::string> known;
  for (const StrategyInfo& strategy : strategy_infos()) known.push_back(strategy.kind);
  if (std::ranges::find(known, kind) == known.end())
    fail("--strategies: '{}' is unknown{}", kind, suggestion(kind, known));
}

ListedStrategy read_entry(const std::string& entry) {
  std::vector<std::string> words = parts_of(entry, ':');
  if (words.front().find('=') != std::string::npos)
    fail(
        "--strategies: '{}' is no strategy (join the options of one with ':', as in gnnpipe:stages=4:chunks=8)",
        entry);
  check_kind(words.front());
  ListedStrategy listed{entry, words.front(), {}};
  std::string own, common;
  words.erase(words.begin());
  for (const std::string& option : words) {
    const auto equals = option.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == option.size())
      fail("--strategies: '{}' in '{}' is not allowed (use OPTION=VALUE, as in graph:overlap=false)", option,
           entry);
    const std::string name = option.substr(0, equals), member = name + ": " + option.substr(equals + 1);
    if (is_common(name))
      common += ", " + member;
    else
      own += (own.empty() ? "" : ", ") + member;
  }
  const std::string block = own.empty() ? "" : fmt::format(", {}: {{{}}}", listed.kind, own);
  listed.change = fmt::format("strategy={{kind: {}{}{}}}", listed.kind, block, common);
  return listed;
}

}  // namespace

std::vector<ListedStrategy> read_strategy_list(const std::string& text) {
  std::vector<ListedStrategy> all;
  for (const std::string& entry : parts_of(text, ',')) {
    if (entry.empty() || entry.front() == ':')
      fail("--strategies: '{}' is not allowed (use KIND,KIND:OPTION=VALUE,…, as in graph,pipegcn)", text);
    all.push_back(read_entry(entry));
  }
  return all;
}

}  // namespace atl
