#include "command/run/plan.h"

#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "command/compare.h"
#include "command/job_data.h"
#include "command/run/job_room.h"
#include "command/run/output_folder.h"
#include "dataset/dataset.h"
#include "plan/traffic.h"
#include "train/checkpoint/checkpoint.h"
#include "train/results.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

fs::path output_folder(const Arguments& a, const Job& job) {
  return a.has("--output") ? fs::path(a.get("--output")) : fs::path("runs") / job.output.path;
}

/// Brings back the run that an earlier --fresh had set aside before it was killed.
void settle(const fs::path& output, Say say) {
  if (bring_back(output))
    say(fmt::format(
        "{}: the run that was to start over ended before its first checkpoint: the one before is back",
        output.string()));
}

/// The server of each rank.
std::vector<std::string> servers_of(const RunPlan& plan, const Job& job) {
  if (plan.hosts.addresses.empty()) return std::vector<std::string>(std::size_t(job.placement.ranks), "here");
  return plan.hosts.addresses;
}

/// The job with a concrete strategy. A resumed run keeps the strategy that was chosen for it.
LoadedJob concrete(const Arguments& a, const LoadedJob& given, const Dataset& dataset, const RunPlan& plan,
                   Say say) {
  const fs::path before = plan.output / "job.yaml";
  if (is_open(given.job) && !a.has("--fresh") && has_checkpoint(plan.output) && fs::exists(before))
    return chosen_before(a, given, before, say);
  const TrainsOn on = trains_on(a, given.job);
  if (is_open(given.job) && on != TrainsOn::kCpus)
    say("warning: strategy.kind: auto compares strategies by this machine's processors, and on GPUs another may be the fastest: "
        "`atoll plan --compare --gpu NAME` compares them there (give the one that it names)");
  const CompareOptions options{.threads = plan.threads,
                               .hosts = servers_of(plan, given.job),
                               .on_gpus = on == TrainsOn::kGpus};  // as check_memory() judges the run
  return concrete_job(a, given, dataset, options, say);
}

}  // namespace

RunPlan plan_run(const Arguments& a, Say say) {
  const LoadedJob given = load_job_of(a, say);
  RunPlan plan{.job = {}, .output = output_folder(a, given.job), .hosts = run_hosts(a, given.job)};
  plan.threads = threads_of(a, given.job, plan.hosts.addresses);
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
  say_section(planned, plan.job, say);
  check_memory(loaded, planned, here, trains_on(a, plan.job), say);
  if (here) check_processors(plan.job, plan.threads, say);
  plan.parts = rank_traffic(plan.job, dataset, prepared).parts;
  plan.attempt = make_output(plan.output, plan.job, options);
  return plan;
}

namespace {

std::string given(const Arguments& a, const char* option, const char* variable,
                  const std::string& otherwise) {
  const char* value = std::getenv(variable);
  return a.get(option, value != nullptr && *value != '\0' ? value : otherwise);
}

std::vector<std::string> servers_in(const std::string& list) {
  std::vector<std::string> servers;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    if (name.empty() || name.find_first_of(" \t:") != std::string::npos)
      fail("--hosts: '{}' is not allowed (use HOST,HOST,…: the name or address of each server)", list);
    servers.push_back(name);
  }
  return servers;
}

std::string own_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

bool is_here(const std::string& server) {
  return server == "localhost" || server == own_name() || server.starts_with("127.");
}

}  // namespace

RemoteHosts run_hosts(const Arguments& a, const Job& job) {
  const std::vector<std::string> servers = servers_in(given(a, "--hosts", "ATOLL_HOSTS", ""));
  if (std::ranges::all_of(servers, is_here)) return {};
  if (a.has("--metrics"))
    fail("--metrics and --hosts exclude each other: --metrics serves only ranks on this machine (use one)");
  const int ranks = job.placement.ranks, together = job.placement.ranks_per_server;
  const int used = together > 0 ? (ranks + together - 1) / together : std::min(ranks, int(servers.size()));
  if (used > int(servers.size())) {
    fail("--hosts: {} ranks with placement.ranksPerServer {} need {} servers, not {}: {}", ranks, together,
         used, servers.size(), "name more, or change one of the two");
  }
  RemoteHosts hosts{{}, given(a, "--shell", "ATOLL_SHELL", "ssh")};
  for (int rank = 0; rank < ranks; ++rank) {
    const int server = together > 0 ? rank / together : rank * used / ranks;
    const std::string& name = servers[std::size_t(server)];
    if (is_here(name) && own_name().size() > kLongestName)
      fail(
          "--hosts: Open MPI can't take '{}', this machine's name, of more than {} characters (give its address instead)",
          own_name(), kLongestName);
    hosts.addresses.push_back(is_here(name) ? own_name()
                                            : name);  // mpirun knows this machine only by this name
  }
  return hosts;
}

}  // namespace atl
