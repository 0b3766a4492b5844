#include "compare/comparison.h"

#include <algorithm>
#include <cmath>

#include "plan/job_plan.h"
#include "simulate/record.h"

namespace atl {

std::optional<double> ComparedStrategy::cost() const {
  if (exact) return step_seconds();
  if (!effect || !effect->length || effect->cut_off || !std::isfinite(*effect->length)) return {};
  if (!effect->tried_on.empty()) return step_seconds() * *effect->length;
  return step_seconds() * std::max(1.0, *effect->length);  // fewer steps are a seed's luck
}

std::optional<double> ComparedStrategy::cost_above() const {
  if (exact || !effect || !effect->length || !effect->cut_off) return {};
  return step_seconds() * *effect->length;
}

const ComparedStrategy* Comparison::best(bool of_exact_ones) const {
  const ComparedStrategy* best = nullptr;
  for (const ComparedStrategy& each : rows) {
    if (!each.refused.empty() || (of_exact_ones && !each.exact) || !each.cost()) continue;
    if (best == nullptr || *each.cost() < *best->cost()) best = &each;
  }
  return best;
}

const ComparedStrategy* Comparison::plain() const {
  const auto found = std::ranges::find(rows, "graph", &ComparedStrategy::label);
  return found != rows.end() && found->refused.empty() ? &*found : nullptr;
}

namespace {

constexpr int kEpochs = 4;  // the second half is judged

/// The rate of the slowest server's link, or of the link inside the only server.
double slowest_link(const Topology& topology) {
  return topology.servers.size() > 1 ? topology.slowest_rate() : topology.inside.rate;
}

/// The plan's figures, which follow from rates alone.
SimulatedRow planned(const JobPlan& plan) {
  SimulatedRow row{.epoch = plan.epoch_seconds};
  for (const RankPlan& rank : plan.ranks) row.compute = std::max(row.compute, rank.compute_seconds);
  row.exposed = std::max(0.0, row.epoch - row.compute);
  for (std::size_t p = 0; p < plan.epoch.size(); ++p) {
    row.bytes_between += double(plan.epoch_between[p]);
    row.bytes_inside += double(plan.epoch[p] - plan.epoch_between[p]);
  }
  return row;
}

}  // namespace

Forecast forecast(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                  const Topology& topology, const MachineRates& rates, int threads) {
  const std::vector<std::string> hosts = topology.hosts();
  const double link = slowest_link(topology);
  const JobPlan plan =
      plan_job(job, dataset, prepared, {threads, rates, link > 0 ? link : rates.triad_bytes, hosts});
  Forecast made;
  for (const RankPlan& rank : plan.ranks) made.peak = std::max(made.peak, rank.memory.peak());
  if (job.task == Task::kLinkPrediction) {
    made.row = planned(plan);
    return made;
  }
  Recording recording =
      record_modelled(job, dataset, prepared, {.epochs = kEpochs, .threads = threads, .hosts = hosts}, rates);
  for (const RankPlan& rank : plan.ranks) recording.works.push_back(rank.work);
  made.row = simulate({"", recording}, topology);
  made.steps = recording.steps;
  return made;
}

Topology usual_topology(const std::vector<std::string>& hosts, double link, const MachineRates& rates,
                        int threads) {
  Topology topology{.name = "these servers",
                    .latency = 100e-6,
                    .cores = double(threads),
                    .byte_seconds = 0.35e-9,
                    .message_seconds = 10e-6};
  // A byte from another rank of the server is read and written twice.
  topology.inside = {.rate = rates.triad_bytes / 4, .latency = 20e-6, .byte_seconds = 0.15e-9};
  for (Rank rank = 0; rank < Rank(hosts.size()); ++rank) {
    const std::string& host = hosts[std::size_t(rank)];
    auto server = std::ranges::find(topology.servers, host, &ServerSpec::name);
    if (server == topology.servers.end())
      server = topology.servers.insert(server, ServerSpec{.name = host, .rate = link});
    server->ranks.push_back(rank);
  }
  return topology;
}

}  // namespace atl
