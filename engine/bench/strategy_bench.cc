#include "bench/strategy_bench.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/json.h"

namespace atl {
namespace {

/// The rank whose epochs hold the most computation.
const TypicalEpoch& slowest_rank(const RunRecord& run) {
  ATOLL_CHECK(!run.typical_by_rank.empty(), "the record of {} says nothing of its ranks", run.setting.output);
  return *std::max_element(
      run.typical_by_rank.begin(), run.typical_by_rank.end(),
      [](const auto& a, const auto& b) { return a.compute_seconds < b.compute_seconds; });
}

/// The median over rounds of what `figure` reads from a run.
template <class Figure>
double middle(const StrategyRuns& runs, Figure figure) {
  std::vector<double> values;
  for (const RunRecord& run : runs.rounds) values.push_back(figure(run));
  return median(std::move(values));
}

std::vector<double> steady_seconds_of(const StrategyRuns& runs, const RunRecord& run) {
  std::vector<double> seconds;
  for (const EpochRecord* e : steady_epochs(run.epochs, run.resumed_from))
    seconds.push_back(e->epoch_seconds);
  if (seconds.empty())
    fail(
        "{}: none of its {} epochs can be timed, for each follows an evaluation or a checkpoint: raise "
        "training.epochs or training.evaluateEvery",
        runs.label, run.epochs.size());
  return seconds;
}

/// Fails where the bytes sent, for the purposes that `counts` selects, differ from the planned ones.
template <class Counts>
void hold_against_plan(const StrategyRuns& runs, const RunRecord& run, const TrafficBytes& planned,
                       Index epochs, const char* where, Counts counts) {
  if (runs.epochs == PlannedBytes::kOfTheFirst) return;
  TrafficBytes sent{};
  for (const LinkTraffic& t : run.training_traffic)
    for (int p = 0; p < kTraffics; ++p)
      if (counts(t) && t.purpose == traffic_name(Traffic(p))) sent[std::size_t(p)] += t.bytes;
  for (int p = 0; p < kTraffics; ++p) {
    const std::int64_t expected = planned[std::size_t(p)] * epochs;
    const bool is_less = sent[std::size_t(p)] < expected;
    if (sent[std::size_t(p)] == expected || (is_less && runs.epochs == PlannedBytes::kTheMost)) continue;
    fail("{}: {} bytes{} for {} in {} epochs ({}), but the plan says {}: report this", runs.label,
         sent[std::size_t(p)], where, traffic_name(Traffic(p)), epochs, run.setting.output, expected);
  }
}

/// Bytes of an epoch from the ledgers of all ranks, checked against the plan.
std::vector<LinkTraffic> epoch_bytes(const StrategyRuns& runs, const RunRecord& run) {
  const Index epochs = run.epochs.back().epoch - run.resumed_from;
  hold_against_plan(runs, run, runs.planned, epochs, "", [](const LinkTraffic&) { return true; });
  hold_against_plan(runs, run, runs.planned_between, epochs, " between servers",
                    [](const LinkTraffic& t) { return t.link == link_name(Link::kInter); });
  std::vector<LinkTraffic> bytes = run.training_traffic;
  for (LinkTraffic& t : bytes) t.bytes /= epochs;
  return bytes;
}

void read_times(const StrategyRuns& runs, StrategyRow& row) {
  row.epoch_min = std::numeric_limits<double>::infinity();
  for (const RunRecord& run : runs.rounds) {
    const std::vector<double> seconds = steady_seconds_of(runs, run);
    row.epochs.push_back(median(seconds));
    row.epoch_min = std::min(row.epoch_min, *std::min_element(seconds.begin(), seconds.end()));
  }
  row.epoch_median = median(row.epochs);
  row.compute = middle(runs, [](const RunRecord& r) { return slowest_rank(r).compute_seconds; });
  row.exposed = middle(runs, [](const RunRecord& r) { return slowest_rank(r).exposed_seconds; });
  row.communication = middle(runs, [](const RunRecord& r) { return slowest_rank(r).communication_seconds; });
  row.progress_cpu = middle(runs, [](const RunRecord& r) { return slowest_rank(r).progress_cpu_seconds; });
  row.ideal = runs.hides ? std::max(row.compute, row.communication) : row.compute + row.communication;
  row.bound = !runs.hides                        ? "compute + communication"
              : row.compute >= row.communication ? "compute"
                                                 : "communication";
}

void read_results(const StrategyRuns& runs, StrategyRow& row) {
  std::vector<double> tests;
  for (const RunRecord& run : runs.rounds) {
    row.bytes = epoch_bytes(runs, run);
    row.memory.resize(run.peak_memory_bytes.size());
    for (std::size_t r = 0; r < row.memory.size(); ++r)
      row.memory[r] = std::max(row.memory[r], run.peak_memory_bytes[r]);
    if (run.test) tests.push_back(*run.test);
  }
  if (!tests.empty()) row.test = median(std::move(tests));
}

}  // namespace

std::pair<double, double> StrategyBench::noise() const {
  const auto [low, high] = std::minmax_element(rows.back().speed_ups.begin(), rows.back().speed_ups.end());
  return {std::min(*low, 1.0), std::max(*high, 1.0)};
}

std::vector<StrategyRow> compare_strategies(const std::vector<StrategyRuns>& runs) {
  std::vector<StrategyRow> rows;
  for (const StrategyRuns& each : runs) {
    ATOLL_CHECK(!each.rounds.empty() && each.rounds.size() == runs[0].rounds.size(),
                "{} rounds of {}, {} of {}", each.rounds.size(), each.label, runs[0].rounds.size(),
                runs[0].label);
    StrategyRow& row = rows.emplace_back();
    row.label = each.label;
    row.again = rows.size() == runs.size();
    row.runs = &each;
    read_times(each, row);
    read_results(each, row);
    for (std::size_t round = 0; round < row.epochs.size(); ++round)
      row.speed_ups.push_back(rows[0].epochs[round] / row.epochs[round]);
  }
  return rows;
}

namespace {

/// communication = fixed + bits / rate
struct Line {
  double fixed, bits;
};

/// Least squares over all measurements.
Line line_through(std::span<const SharedEpoch> measured) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const SharedEpoch& m : measured) {
    x += 1 / m.rate, y += m.communication;
    xx += 1 / (m.rate * m.rate), xy += m.communication / m.rate;
  }
  const auto n = double(measured.size());
  const double bits = (n * xy - x * y) / (n * xx - x * x), fixed = (y - bits * x) / n;
  if (measured.size() > 1 && bits > 0 && fixed >= 0) return {fixed, bits};
  return {0, measured.back().communication * measured.back().rate};
}

double mean_compute(std::span<const SharedEpoch> measured) {
  double sum = 0;
  for (const SharedEpoch& m : measured) sum += m.compute;
  return sum / double(measured.size());
}

}  // namespace

double rate_for_share(double share, std::span<const SharedEpoch> measured) {
  ATOLL_CHECK(!measured.empty() && share > 0 && share < 1, "{} measurements for a share of {}",
              measured.size(), share);
  if (!(measured.back().communication > 0)) fail("--comm-share: the job doesn't communicate; use more ranks");
  const Line line = line_through(measured);
  const double compute = mean_compute(measured), wanted = compute * share / (1 - share);
  if (wanted <= line.fixed)
    fail(
        "--comm-share: {:g} is too small: at any link rate an epoch has {:.3g} s of communication and "
        "{:.3g} s of compute; use more than {:.2f}, or give the ranks more work",
        share, line.fixed, compute, line.fixed / (line.fixed + compute));
  return line.bits / (wanted - line.fixed);
}

// A comparison of strategies as one JSON object.

namespace {

using Json = nlohmann::ordered_json;

/// By link class, then by purpose.
Json bytes_json(const std::vector<LinkTraffic>& traffic) {
  Json bytes = Json::object();
  for (const LinkTraffic& t : traffic) bytes[t.link][t.purpose] = t.bytes;
  return bytes;
}

Json rounds_json(const StrategyRow& row) {
  Json rounds = Json::array();
  for (std::size_t i = 0; i < row.epochs.size(); ++i) {
    const RunRecord& run = row.runs->rounds[i];
    rounds.push_back({{"epochSecondsMedian", row.epochs[i]},
                      {"speedUp", row.speed_ups[i]},
                      {"test", run.test ? Json(*run.test) : Json(nullptr)},
                      {"output", run.setting.output}});
  }
  return rounds;
}

Json row_json(const StrategyRow& row) {
  return {{"strategy", row.label},
          {"again", row.again},
          {"epochSecondsMedian", row.epoch_median},
          {"epochSecondsMin", row.epoch_min},
          {"computeSeconds", row.compute},
          {"exposedCommunicationSeconds", row.exposed},
          {"communicationSeconds", row.communication},
          {"progressCpuSeconds", row.progress_cpu},
          {"idealSeconds", row.ideal},
          {"boundBy", row.bound},
          {"epochOverIdeal", row.epoch_over_ideal()},
          {"speedUp", row.speed_up()},
          {"bytes", bytes_json(row.bytes)},
          {"peakMemoryBytes", row.memory},
          {"test", row.test ? Json(*row.test) : Json(nullptr)},
          {"rounds", rounds_json(row)}};
}

}  // namespace

std::string to_json(const StrategyBench& bench) {
  const auto [low, high] = bench.noise();
  Json document{{"event", "benchStrategies"},
                {"machine", bench.rows[0].runs->rounds[0].setting.machine},
                {"link", bench.link.empty() ? Json(nullptr) : Json(bench.link)},
                {"rig", bench.rig.empty() ? Json(nullptr) : parse_ordered_json(bench.rig)},
                {"noise", {low, high}}};
  if (bench.share_asked > 0)
    document["commShare"] = {{"asked", bench.share_asked}, {"reached", bench.share_reached}};
  document["runs"] = Json::array();
  for (const StrategyRow& row : bench.rows) document["runs"].push_back(row_json(row));
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace atl
