// A comparison of strategies as one JSON object.
#include <nlohmann/json.hpp>

#include "bench/strategy_bench.h"

namespace atl {
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
                {"rig", bench.rig.empty() ? Json(nullptr) : Json::parse(bench.rig)},
                {"noise", {low, high}}};
  if (bench.share_asked > 0)
    document["commShare"] = {{"asked", bench.share_asked}, {"reached", bench.share_reached}};
  document["runs"] = Json::array();
  for (const StrategyRow& row : bench.rows) document["runs"].push_back(row_json(row));
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace atl
