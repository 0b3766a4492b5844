#include "compare/comparison.h"

#include <algorithm>
#include <cmath>

#include "simulate/record.h"

namespace atl {
namespace {

constexpr const char* kPlain = "graph";
constexpr double kPatience = 3;  // as a multiple of `graph`'s time

/// The weighted mean of f(value) over all values.
template <typename F>
double mean_of(const std::vector<Weighted>& all, const F& f) {
  double sum = 0, weights = 0;
  for (const Weighted& each : all) sum += each.weight * f(each.value), weights += each.weight;
  return sum / weights;
}

}  // namespace

bool ComparedStrategy::is_known() const {
  return exact || (effect && !effect->lengths.guessed && !effect->lengths.of_runs.empty());
}

std::optional<double> ComparedStrategy::cost_above() const {
  if (exact || !effect || !effect->cut_off) return {};
  return step_seconds() * effect->lengths.of_runs.front().value;
}

/// The time at which a run is given up, in seconds for each step of `graph`. Without a forecast of `graph`,
/// the fastest exact strategy counts in its place; infinite without one.
double Comparison::given_up() const {
  double step = kNotThere;
  for (const ComparedStrategy& each : rows) {
    if (each.label == kPlain && each.forecast.row.epoch > 0) return kPatience * each.step_seconds();
    if (each.exact && each.refused.empty()) step = std::min(step, each.step_seconds());
  }
  return kPatience * step;
}

std::vector<Weighted> Comparison::times(const ComparedStrategy& row) const {
  if (row.exact) return {{row.step_seconds()}};
  const double longest = given_up();
  std::vector<Weighted> all{{1}, {kNotThere}};
  if (row.effect && !row.effect->lengths.of_runs.empty()) {
    const Lengths& known = row.effect->lengths;
    all = known.of_runs;
    // Without an exact strategy there is none to fall back on, and the run that fails would rule out all
    // rows.
    if (known.doubt > 0 && longest < kNotThere) all.push_back({kNotThere, known.doubt});
  }
  const bool is_tried = row.effect && !row.effect->tried_on.empty();
  for (auto& [value, weight] : all)  // fewer steps on other graphs are a seed's luck
    value = std::min(longest, row.step_seconds() * (is_tried ? value : std::max(1.0, value)));
  return all;
}

std::optional<double> Comparison::cost(const ComparedStrategy& row) const {
  if (row.exact) return row.step_seconds();
  if (!row.is_known() || row.effect->cut_off) return {};
  const auto got_there = [](const Weighted& run) { return run.value < kNotThere; };
  if (std::ranges::none_of(row.effect->lengths.of_runs, got_there)) return {};
  const double root = mean_of(times(row), [](double each) { return std::sqrt(each); });
  return root < kNotThere ? std::optional(root * root) : std::nullopt;
}

double Comparison::saving(const ComparedStrategy& row) const {
  const ComparedStrategy* chosen = best(false);
  const ComparedStrategy* instead = chosen == &row ? best(false, &row) : chosen;
  if (chosen == nullptr) return kNotThere;
  if (instead == nullptr) return 0;
  const double other = *cost(*instead);
  return mean_of(times(row),
                 [&](double each) { return std::max(0.0, chosen == &row ? each - other : other - each); });
}

const ComparedStrategy* Comparison::best(bool of_exact_ones, const ComparedStrategy* besides) const {
  const ComparedStrategy* best = nullptr;
  std::optional<double> least;
  for (const ComparedStrategy& each : rows) {
    if (&each == besides || !each.refused.empty() || (of_exact_ones && !each.exact)) continue;
    const std::optional<double> its = cost(each);
    if (its && (!least || *its < *least)) best = &each, least = its;
  }
  return best;
}

const ComparedStrategy* Comparison::plain() const {
  const auto found = std::ranges::find(rows, kPlain, &ComparedStrategy::label);
  return found != rows.end() && found->refused.empty() ? &*found : nullptr;
}

namespace {

constexpr int kEpochs = 4;  // only the second half of the epochs is judged

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
                  const Topology& topology, const MachineRates& rates, int threads, bool on_gpus) {
  const std::vector<std::string> hosts = topology.hosts();
  const double link = slowest_link(topology);
  const JobPlan plan =
      plan_job(job, dataset, prepared, {threads, rates, link > 0 ? link : rates.triad_bytes, hosts});
  Forecast made;
  for (const RankPlan& rank : plan.ranks) made.peak = std::max(made.peak, rank.memory.peak());
  made.shortfall = shortfall_of_resources(plan, job, on_gpus);
  made.steps = double(plan.steps);
  if (job.task == Task::kLinkPrediction) {
    made.row = planned(plan);
    return made;
  }
  Recording recording =
      record_modelled(job, dataset, prepared, {.epochs = kEpochs, .threads = threads, .hosts = hosts}, rates);
  for (const RankPlan& rank : plan.ranks) recording.works.push_back(rank.work);
  made.row = simulate({"", recording}, topology);
  return made;
}

Topology usual_topology(const std::vector<std::string>& hosts, double link, const MachineRates& rates,
                        int threads) {
  Topology topology{.name = "these servers",
                    .latency = 100e-6,
                    .cores = double(threads),
                    .byte_seconds = 0.35e-9,
                    .message_seconds = 10e-6};
  // A byte from another rank of the server is read twice and written twice.
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
