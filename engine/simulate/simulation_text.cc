// A simulation for a terminal, and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "simulate/simulation.h"

namespace atl {
namespace {

std::string gigabit(double bytes) {
  return fmt::format("{:.4g} Gbit/s", bytes * 8e-9);
}

/// Seconds of computing in an epoch, summed over ranks.
double recorded_seconds(const Recording& recording) {
  double sum = 0;
  for (const RankRecording& rank : recording.ranks)
    for (const RecordedStep& step : rank.steps) sum += step.seconds;
  return sum / std::max(1, recording.epochs);
}

std::string head(const Simulation& s) {
  const Topology& t = s.topology;
  std::string text = fmt::format("{}: {} {} on {} {}", t.name, t.ranks(), t.ranks() == 1 ? "rank" : "ranks",
                                 t.servers.size(), t.servers.size() == 1 ? "server" : "servers");
  if (t.servers.size() > 1) text += fmt::format(", links of {}", gigabit(t.slowest_rate()));
  if (t.inside.rate > 0) text += fmt::format(", {:.4g} GB/s inside", t.inside.rate * 1e-9);
  if (s.share_asked > 0)
    text += fmt::format(" (communication takes {:.1f} % of the first; --comm-share is {:.1f} %)",
                        100 * s.share_reached, 100 * s.share_asked);
  if (t.rates)
    text += fmt::format(
        "\na model: products at {:.4g} Tflop/s, gathers at {:.4g} TB/s, streams at {:.4g} TB/s",
        t.rates->product_flops * 1e-12, t.rates->gather_bytes * 1e-12, t.rates->triad_bytes * 1e-12);
  else if (t.is_model)
    text += fmt::format("\na model: computing {:g} times as fast as recorded here", t.speed);
  return text + "\n\n";
}

/// The waits of ranks, longest first: "halo 40 ms, stage 3 ms".
std::string waits(const SimulatedRow& row) {
  std::vector<std::pair<double, std::string>> all{{row.without_batch, "batches"}};
  for (std::size_t p = 0; p < row.waits.size(); ++p) all.emplace_back(row.waits[p], traffic_name(Traffic(p)));
  std::ranges::sort(all, std::greater());
  std::string text;
  for (const auto& [seconds, what] : all)
    if (seconds > 0.005 * row.epoch)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", what, duration_text(seconds));
  return text.empty() ? "–" : text;
}

nlohmann::json row_json(const SimulatedRow& row) {
  nlohmann::json waits = nlohmann::json::object();
  for (std::size_t p = 0; p < row.waits.size(); ++p)
    if (row.waits[p] > 0) waits[traffic_name(Traffic(p))] = row.waits[p];
  return {{"strategy", row.label},
          {"epochSeconds", row.epoch},
          {"computeSeconds", row.compute},
          {"computeSecondsOfAllRanks", row.compute_of_all},
          {"exposedSeconds", row.exposed},
          {"withoutBatchSeconds", row.without_batch},
          {"communicationShare", row.share()},
          {"freeLinksSeconds", row.free_links},
          {"speedUp", row.speed_up},
          {"bytesWithinServers", row.bytes_inside},
          {"bytesBetweenServers", row.bytes_between},
          {"waitSecondsMeanOverRanks", waits}};
}

nlohmann::json recording_json(const RecordedStrategy& strategy) {
  const Recording& r = strategy.recording;
  return {{"strategy", strategy.label},
          {"ranks", r.ranks.size()},
          {"epochs", r.epochs},
          {"losses", r.losses},  // empty where each rank ran by itself
          {"spreadBetweenEpochs", r.spread},
          {"turnsInAnEpoch", r.turns},
          {"refillSeconds", r.refill_seconds},
          {"ranksAtOnce", r.at_once},
          {"ranksMeasured", r.sampled > 0 ? std::size_t(r.sampled) : r.ranks.size()},
          {"lawError", r.law_error}};
}

}  // namespace

std::string to_text(const Simulation& s, const std::vector<RecordedStrategy>& strategies) {
  std::size_t width = 8;
  for (const SimulatedRow& row : s.rows) width = std::max(width, row.label.size());
  std::string text =
      head(s) + fmt::format("{:<{}}  {:>8} {:>8}  {:>8} {:>8} {:>6}  {:>10}  {:>10} {:>10}  {}\n", "strategy",
                            width, "epoch", "speed-up", "compute", "exposed", "share", "free links",
                            "between", "inside", "ranks wait for");
  for (const SimulatedRow& row : s.rows)
    text += fmt::format("{:<{}}  {:>8} {:>8.2f}  {:>8} {:>8} {:>4.1f} %  {:>10}  {:>10} {:>10}  {}\n",
                        row.label, width, duration_text(row.epoch), row.speed_up, duration_text(row.compute),
                        duration_text(row.exposed), 100 * row.share(), duration_text(row.free_links),
                        bytes_text(row.bytes_between), bytes_text(row.bytes_inside), waits(row));
  double spread = 0, refill = 0;
  bool alone = false, modelled = false;
  for (std::size_t i = 0; i < strategies.size(); ++i) {
    const Recording& r = strategies[i].recording;
    spread = std::max(spread, r.spread), alone |= r.losses.empty(), modelled |= r.modelled;
    if (const double seconds = recorded_seconds(r); seconds > 0)
      refill = std::max(refill, r.turns * r.refill_seconds / seconds);
  }
  for (const RecordedStrategy& each : strategies)
    if (const Recording& r = each.recording; r.sampled > 0)
      text += fmt::format(
          "a model: of {}, {} of {} ranks are recorded; the others' computing follows from what they hold, and such laws miss a "
          "recorded rank that they don't know by {:.1f} %\n",
          each.label, r.sampled, r.ranks.size(), 100 * r.law_error);
  text +=
      "compute, exposed: of the rank that computes longest, compute with its processor's work on messages; free links: an "
      "epoch where messages take no time and no processor; bytes: of all ranks in an epoch\n";
  if (modelled)
    return text +
           "a model: no rank ran; computing takes what its kernels' work does at the rates measured here\n";
  return text + fmt::format("costs differ by {:.1f} % between epochs; {}\n", 100 * spread,
                            alone ? "each rank ran by itself, with empty messages"
                                  : fmt::format("caches refilled after turns are at most {:.1f} % of them",
                                                100 * refill));
}

std::string to_json(const std::vector<Simulation>& simulations,
                    const std::vector<RecordedStrategy>& strategies) {
  nlohmann::json all{{"recordings", nlohmann::json::array()}, {"simulations", nlohmann::json::array()}};
  bool modelled = false;
  for (const RecordedStrategy& strategy : strategies) {
    all["recordings"].push_back(recording_json(strategy));
    modelled |= strategy.recording.modelled;
  }
  for (const Simulation& s : simulations) {
    nlohmann::json rows = nlohmann::json::array();
    for (const SimulatedRow& row : s.rows) rows.push_back(row_json(row));
    nlohmann::json one{{"topology", s.topology.name},
                       {"source", s.topology.source},
                       {"servers", s.topology.servers.size()},
                       {"serverBitsPerSecond", s.topology.slowest_rate() * 8},
                       {"computeIsAModel", s.topology.is_model || modelled},
                       {"strategies", rows}};
    if (s.share_asked > 0) one["shareAsked"] = s.share_asked, one["shareReached"] = s.share_reached;
    all["simulations"].push_back(std::move(one));
  }
  return all.dump();
}

}  // namespace atl
