#include "telemetry/rank_figures.h"

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/memory.h"

namespace atl {
namespace {

/// Every rank's value, in rank order.
std::vector<std::int64_t> gather_counts(Communicator& comm, std::span<const std::int64_t> mine) {
  std::vector<std::int64_t> all;
  for (const auto& blob : comm.all_gather(Traffic::kStatistics, std::as_bytes(mine))) {
    if (blob.empty()) continue;
    const std::size_t at = all.size();
    all.resize(at + blob.size() / sizeof(std::int64_t));
    std::memcpy(all.data() + at, blob.data(), blob.size());
  }
  return all;
}

/// The same for seconds, rank by rank.
std::vector<std::vector<double>> gather_seconds(Communicator& comm, const std::vector<double>& mine) {
  std::vector<std::int64_t> nanoseconds;
  for (const double s : mine) nanoseconds.push_back(std::llround(s * 1e9));
  const std::vector<std::int64_t> all = gather_counts(comm, nanoseconds);
  std::vector<std::vector<double>> by_rank(std::size_t(comm.size()));
  for (std::size_t i = 0; i < all.size(); ++i) by_rank[i / mine.size()].push_back(double(all[i]) / 1e9);
  return by_rank;
}

void gather_phases(Communicator& comm, const std::vector<Phase>& phases, RunRecord& record) {
  std::vector<double> mine;
  for (const Phase& phase : phases) mine.push_back(phase.seconds);
  if (mine.empty()) return;
  for (const std::vector<double>& seconds : gather_seconds(comm, mine)) {
    auto& theirs = record.phases_by_rank.emplace_back(phases);
    for (std::size_t i = 0; i < seconds.size(); ++i) theirs[i].seconds = seconds[i];
  }
}

/// This rank's, over its steady epochs, or over all where none is steady.
std::vector<double> typical_seconds(const RunRecord& record) {
  std::vector<const EpochRecord*> epochs = steady_epochs(record.epochs, record.resumed_from);
  if (epochs.empty())
    for (const EpochRecord& epoch : record.epochs) epochs.push_back(&epoch);
  const auto middle = [&](auto seconds_of) {
    std::vector<double> seconds;
    for (const EpochRecord* epoch : epochs) seconds.push_back(seconds_of(*epoch));
    return median(std::move(seconds));
  };
  const auto phase = [&](const char* name) {
    return middle([&](const EpochRecord& e) { return seconds_of_phase(e.own.phases, name); });
  };
  return {middle([](const EpochRecord& e) { return e.epoch_seconds; }), phase("compute"),
          phase("communication"), middle([](const EpochRecord& e) { return e.own.communication_seconds; }),
          middle([](const EpochRecord& e) { return e.own.progress_cpu_seconds; })};
}

void gather_typical_epochs(Communicator& comm, RunRecord& record) {
  for (const std::vector<double>& s : gather_seconds(comm, typical_seconds(record)))
    record.typical_by_rank.push_back({s[0], s[1], s[2], s[3], s[4]});
}

/// A resumed rank also holds records of epochs before this start; they don't count here.
std::vector<std::int64_t> sent_in_training(const RunRecord& record) {
  std::vector<std::int64_t> sent(std::size_t{kLinks * kTraffics}, 0);
  for (const EpochRecord& epoch : record.epochs) {
    if (epoch.epoch <= record.resumed_from) continue;
    for (const LinkTraffic& t : epoch.own.traffic)
      for (int l = 0; l < kLinks; ++l)
        for (int p = 0; p < kTraffics; ++p)
          if (t.link == link_name(Link(l)) && t.purpose == traffic_name(Traffic(p)))
            sent[std::size_t(l) * kTraffics + std::size_t(p)] += t.bytes;
  }
  return sent;
}

void sum_training_traffic(Communicator& comm, RunRecord& record) {
  std::vector<std::int64_t> sent = sent_in_training(record);
  comm.all_reduce(Traffic::kStatistics, std::span<std::int64_t>(sent));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i] == 0) continue;
    record.training_traffic.push_back(
        {link_name(Link(i / kTraffics)), traffic_name(Traffic(i % kTraffics)), sent[i]});
  }
}

}  // namespace

void gather_rank_figures(Communicator& comm, const std::vector<Phase>& phases, RunRecord& record) {
  const std::int64_t peak = process_memory().peak_bytes;
  record.peak_memory_bytes = gather_counts(comm, std::span(&peak, 1));
  const Ledger ledger = comm.ledger();
  std::vector<std::int64_t> to;
  for (int r = 0; r < comm.size(); ++r) to.push_back(ledger.bytes_to(r));
  record.bytes_by_pair = gather_counts(comm, to);
  gather_phases(comm, phases, record);
  gather_typical_epochs(comm, record);
  sum_training_traffic(comm, record);
}

namespace {

using Json = nlohmann::ordered_json;
using Named = std::vector<ExplainedFigures::Named>;

Json named_json(const Named& all) {
  Json json = Json::array();
  for (const auto& [id, mask] : all) json.push_back({id, mask});
  return json;
}

Named named_of(const Json& json) {
  Named all;
  for (const Json& each : json) all.push_back({each.at(0), each.at(1)});
  return all;
}

Json json_of(const ExplainedFigures& f) {
  return {{"others", f.others},
          {"features", f.features},
          {"chosen", f.chosen},
          {"vertices", named_json(f.vertices)},
          {"columns", named_json(f.columns)},
          {"vertexMasks", {f.least_vertex, f.middle_vertex}},
          {"columnMasks", {f.least_column, f.middle_column}},
          {"epochs", f.epochs},
          {"loss", {f.first_loss, f.loss}},
          {"seconds", f.seconds},
          {"explanations", f.explanations}};
}

ExplainedFigures figures_of(const Json& json) {
  ExplainedFigures f;
  json.at("others").get_to(f.others), json.at("features").get_to(f.features);
  json.at("chosen").get_to(f.chosen);
  f.vertices = named_of(json.at("vertices")), f.columns = named_of(json.at("columns"));
  f.least_vertex = json.at("vertexMasks").at(0), f.middle_vertex = json.at("vertexMasks").at(1);
  f.least_column = json.at("columnMasks").at(0), f.middle_column = json.at("columnMasks").at(1);
  json.at("epochs").get_to(f.epochs);
  f.first_loss = json.at("loss").at(0), f.loss = json.at("loss").at(1);
  json.at("seconds").get_to(f.seconds), json.at("explanations").get_to(f.explanations);
  return f;
}

}  // namespace

Json to_json(const std::vector<ExplainedFigures>& ranks) {
  Json json = Json::array();
  for (const ExplainedFigures& each : ranks) json.push_back(json_of(each));
  return json;
}

void from_json(const Json& json, std::vector<ExplainedFigures>& ranks) {
  for (const Json& each : json) ranks.push_back(figures_of(each));
}

void gather_explained(Communicator& comm, const ExplainedFigures& mine, RunRecord& record) {
  const std::string text = json_of(mine).dump();
  const auto all = comm.all_gather(Traffic::kStatistics, std::as_bytes(std::span(text)));
  if (comm.rank() != 0) return;
  for (const auto& bytes : all) {
    const auto* const first = reinterpret_cast<const char*>(bytes.data());
    record.explained.push_back(figures_of(Json::parse(first, first + bytes.size())));
  }
}

}  // namespace atl
