#include "command/run/plan.h"

#include "base/error.h"
#include "command/compare.h"
#include "command/run/hosts.h"
#include "command/run/job_room.h"
#include "command/run/memory_budget.h"
#include "command/run/output_folder.h"
#include "command/run/self_loops.h"
#include "dataset/dataset.h"
#include "plan/part_order.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/start_over.h"
#include "train/finished_run.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

fs::path output_folder(const Arguments& a, const Job& job) {
  return a.has("--output") ? fs::path(a.get("--output")) : fs::path("runs") / job.output.path;
}

/// A run that was to start over here and was killed has left the one before aside.
void settle(const fs::path& output, Say say) {
  if (bring_back(output))
    say(fmt::format(
        "{}: the run that was to start over ended before its first checkpoint: the one before is back",
        output.string()));
}

/// By rank.
std::vector<std::string> servers_of(const RunPlan& plan, const Job& job) {
  if (plan.hosts.addresses.empty()) return std::vector<std::string>(std::size_t(job.placement.ranks), "here");
  return plan.hosts.addresses;
}

/// A run that goes on keeps the strategy that was chosen for it.
LoadedJob concrete(const Arguments& a, const LoadedJob& given, const Dataset& dataset, const RunPlan& plan,
                   Say say) {
  const fs::path before = plan.output / "job.yaml";
  if (is_open(given.job) && !a.has("--fresh") && has_checkpoint(plan.output) && fs::exists(before))
    return chosen_before(a, given, before, say);
  return concrete_job(a, given, dataset, {.threads = plan.threads, .hosts = servers_of(plan, given.job)},
                      say);
}

}  // namespace

RunPlan plan_run(const Arguments& a, Say say) {
  const LoadedJob given = load_job_of(a, say);
  RunPlan plan{.job = {},
               .output = output_folder(a, given.job),
               .threads = threads_of(a, given.job),
               .hosts = run_hosts(a, given.job)};
  if (a.has("--fresh") && a.has("--resume")) fail("--fresh and --resume exclude each other (use one)");
  const OutputOptions options{a.has("--fresh"), a.has("--resume")};
  plan.lock = std::make_unique<OutputLock>(plan.output, say);
  settle(plan.output, say);
  const Dataset dataset = dataset_of(a, given, say);
  plan.dataset = dataset.folder();
  LoadedJob made = concrete(a, given, dataset, plan, say);
  if (!options.fresh) go_on_with_self_loops(plan.output, made);
  const LoadedJob loaded = within_budget(made, dataset, plan.threads, say);
  plan.job = loaded.job;
  check_resumable(plan.output, plan.job, options);
  say_other_division(plan.output, plan.job, options, say);
  if (!options.fresh) plan.finished = finished_run(plan.output, plan.job, dataset.meta().checksum);
  if (plan.finished) return plan;
  if (plan.job.placement.ranks > 1 || !plan.hosts.addresses.empty()) check_mpirun(plan.hosts);
  if (const std::string line = self_loops_line(dataset.meta(), plan.job); !line.empty()) say(line);
  const PreparedGraph prepared = prepare_graph(loaded, dataset, say);
  const bool here = plan.hosts.addresses.empty();
  const JobPlan planned = memory_plan(plan.job, dataset, prepared, plan.threads);
  say_what_servers_hold(planned, say);
  say_stages(planned, plan.job, say);
  say_evaluations(planned, plan.job, say);
  check_memory(loaded, planned, here, say);
  if (here) check_processors(plan.job, plan.threads, say);
  plan.parts = rank_traffic(plan.job, dataset, prepared).parts;
  plan.attempt = make_output(plan.output, plan.job, options);
  return plan;
}

}  // namespace atl
