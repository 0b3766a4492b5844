#include "telemetry/record_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/error.h"
#include "telemetry/pipeline_figures.h"
#include "telemetry/rank_figures.h"

namespace atl {
namespace {

// ordered_json keeps keys as they are written here, which is how people read them.
using Json = nlohmann::ordered_json;

/// Text that isn't UTF-8 (a path, a host's name) gets replacement characters instead of an exception.
std::string text_of(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// One value to JSON and back.
Json to_json(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
Json to_json(const std::optional<double>& value) {
  return value ? to_json(*value) : Json(nullptr);
}
Json to_json(const std::vector<Phase>& phases) {
  Json json = Json::object();
  for (const Phase& phase : phases) json[phase.name] = to_json(phase.seconds);
  return json;
}
Json to_json(const std::vector<std::vector<Phase>>& ranks) {
  Json json = Json::array();
  for (const auto& phases : ranks) json.push_back(to_json(phases));
  return json;
}
Json to_json(const std::vector<LinkTraffic>& traffic) {
  Json json = Json::array();
  for (const LinkTraffic& t : traffic)
    json.push_back({{"link", t.link}, {"purpose", t.purpose}, {"bytes", t.bytes}});
  return json;
}
Json to_json(const std::vector<TypicalEpoch>& ranks);
Json to_json(const std::vector<Staleness>& layers);
Json to_json(const std::optional<BatchCounts>& batches);
template <class T>
Json to_json(const T& value) {
  return Json(value);
}

void from_json(const Json& json, double& value) {
  value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}
void from_json(const Json& json, std::optional<double>& value) {
  value = json.is_null() ? std::nullopt : std::optional(json.get<double>());
}
void from_json(const Json& json, std::vector<Phase>& phases) {
  for (const auto& [name, seconds] : json.items()) phases.push_back({name, seconds.get<double>()});
}
void from_json(const Json& json, std::vector<std::vector<Phase>>& ranks) {
  for (const Json& phases : json) from_json(phases, ranks.emplace_back());
}
void from_json(const Json& json, std::vector<LinkTraffic>& traffic) {
  for (const Json& t : json) traffic.push_back({t.at("link"), t.at("purpose"), t.at("bytes")});
}
void from_json(const Json& json, std::vector<TypicalEpoch>& ranks);
void from_json(const Json& json, std::vector<Staleness>& layers);
void from_json(const Json& json, std::optional<BatchCounts>& batches);
template <class T>
void from_json(const Json& json, T& value) {
  json.get_to(value);
}

// ---- the keys, in the order in which they are written: each list serves both directions -------------------

template <class Owner, class Value>
struct Key {
  const char* name;
  Value Owner::*member;
};
template <class Owner, class Value>
Key(const char*, Value Owner::*) -> Key<Owner, Value>;

constexpr std::tuple kSetting{Key{"name", &RunSetting::name},
                              Key{"dataset", &RunSetting::dataset},
                              Key{"datasetChecksum", &RunSetting::dataset_checksum},
                              Key{"vertices", &RunSetting::vertices},
                              Key{"arcs", &RunSetting::arcs},
                              Key{"features", &RunSetting::features},
                              Key{"classes", &RunSetting::classes},
                              Key{"model", &RunSetting::model},
                              Key{"parameters", &RunSetting::parameters},
                              Key{"strategy", &RunSetting::strategy},
                              Key{"partitioner", &RunSetting::partitioner},
                              Key{"metric", &RunSetting::metric},
                              Key{"epochs", &RunSetting::epochs},
                              Key{"ranks", &RunSetting::ranks},
                              Key{"threads", &RunSetting::threads},
                              Key{"hosts", &RunSetting::hosts},
                              Key{"versions", &RunSetting::versions},
                              Key{"machine", &RunSetting::machine},
                              Key{"output", &RunSetting::output},
                              Key{"jobYaml", &RunSetting::job_yaml}};

constexpr std::tuple kEpoch{Key{"epoch", &EpochRecord::epoch},
                            Key{"loss", &EpochRecord::loss},
                            Key{"train", &EpochRecord::train},
                            Key{"validation", &EpochRecord::validation},
                            Key{"test", &EpochRecord::test},
                            Key{"validationLoss", &EpochRecord::validation_loss},
                            Key{"learningRate", &EpochRecord::learning_rate},
                            Key{"epochSeconds", &EpochRecord::epoch_seconds}};

constexpr std::tuple kSample{Key{"phases", &RankSample::phases}, Key{"traffic", &RankSample::traffic},
                             Key{"residentBytes", &RankSample::resident_bytes}};

constexpr std::tuple kRun{Key{"resumedFrom", &RunRecord::resumed_from},
                          Key{"outcome", &RunRecord::outcome},
                          Key{"bestEpoch", &RunRecord::best_epoch},
                          Key{"validation", &RunRecord::validation},
                          Key{"test", &RunRecord::test},
                          Key{"epochSecondsMedian", &RunRecord::epoch_seconds_median},
                          Key{"startupSeconds", &RunRecord::startup_seconds},
                          Key{"peakMemoryBytes", &RunRecord::peak_memory_bytes},
                          Key{"bytesByPair", &RunRecord::bytes_by_pair},
                          Key{"phasesByRank", &RunRecord::phases_by_rank}};

// Keys that came later than those above: files of older runs lack them.
constexpr std::tuple kSettingSince{Key{"cpus", &RunSetting::cpus}};
constexpr std::tuple kSampleSince{Key{"communicationSeconds", &RankSample::communication_seconds},
                                  Key{"progressCpuSeconds", &RankSample::progress_cpu_seconds},
                                  Key{"batches", &RankSample::batches}};
constexpr std::tuple kRunSince{
    Key{"typicalEpochByRank", &RunRecord::typical_by_rank},
    Key{"trainingTraffic", &RunRecord::training_traffic}, Key{"resumedSteps", &RunRecord::resumed_steps},
    Key{"pipeline", &RunRecord::pipeline}, Key{"explained", &RunRecord::explained}};
constexpr std::tuple kEpochSince{Key{"lateness", &EpochRecord::staleness}};

constexpr std::tuple kBatches{
    Key{"ownRows", &BatchCounts::own_rows}, Key{"cachedRows", &BatchCounts::cached_rows},
    Key{"fetchedRows", &BatchCounts::fetched_rows}, Key{"growths", &BatchCounts::reallocations},
    Key{"waitedSeconds", &BatchCounts::waited_seconds}};
constexpr std::tuple kBatchesSince{Key{"gpuRows", &BatchCounts::gpu_rows}};
constexpr std::tuple kStaleness{Key{"layer", &Staleness::layer}, Key{"rows", &Staleness::rows},
                                Key{"gradients", &Staleness::gradients}};
constexpr std::tuple kTypical{Key{"epochSeconds", &TypicalEpoch::epoch_seconds},
                              Key{"computeSeconds", &TypicalEpoch::compute_seconds},
                              Key{"exposedCommunicationSeconds", &TypicalEpoch::exposed_seconds},
                              Key{"communicationSeconds", &TypicalEpoch::communication_seconds},
                              Key{"progressCpuSeconds", &TypicalEpoch::progress_cpu_seconds}};

template <class Keys, class Object>
void put(const Keys& keys, const Object& object, Json& json) {
  std::apply([&](const auto&... key) { ((json[key.name] = to_json(object.*key.member)), ...); }, keys);
}

template <class Keys, class Object>
void get(const Keys& keys, const Json& json, Object& object) {
  std::apply([&](const auto&... key) { (from_json(json.at(key.name), object.*key.member), ...); }, keys);
}

template <class Keys, class Object>
void get_if_present(const Keys& keys, const Json& json, Object& object) {
  const auto read = [&](const auto& key) {
    if (json.contains(key.name)) from_json(json.at(key.name), object.*key.member);
  };
  std::apply([&](const auto&... key) { (read(key), ...); }, keys);
}

Json to_json(const std::vector<TypicalEpoch>& ranks) {
  Json json = Json::array();
  for (const TypicalEpoch& rank : ranks) put(kTypical, rank, json.emplace_back());
  return json;
}
void from_json(const Json& json, std::vector<TypicalEpoch>& ranks) {
  for (const Json& rank : json) get(kTypical, rank, ranks.emplace_back());
}

Json to_json(const std::optional<BatchCounts>& batches) {
  Json json;
  if (batches) put(kBatches, *batches, json), put(kBatchesSince, *batches, json);
  return json;
}
void from_json(const Json& json, std::optional<BatchCounts>& batches) {
  if (json.is_null()) return;
  get(kBatches, json, batches.emplace()), get_if_present(kBatchesSince, json, *batches);
}

Json to_json(const std::vector<Staleness>& layers) {
  Json json = Json::array();
  for (const Staleness& layer : layers) put(kStaleness, layer, json.emplace_back());
  return json;
}
void from_json(const Json& json, std::vector<Staleness>& layers) {
  for (const Json& layer : json) get(kStaleness, layer, layers.emplace_back());
}

/// Runs `read`, which reads parsed text, and turns the library's exceptions into Errors.
template <class Read>
auto reading(Read read) {
  try {
    return read();
  } catch (const Json::exception& error) {
    fail("{}", error.what());
  }
}

void expect_size(const char* key, std::size_t size, Index expected) {
  if (Index(size) != expected) fail("{} has {} entries where {} are needed", key, size, expected);
}

Json links_json(const LinkMetrics& links) {
  return {{"rocAuc", links.roc_auc},
          {"averagePrecision", links.average_precision},
          {"mrr", links.mrr},
          {"hits", links.hits},
          {"hitsAt", links.hits_at}};
}

LinkMetrics parse_links(const Json& json) {
  LinkMetrics links;
  json.at("rocAuc").get_to(links.roc_auc);
  json.at("averagePrecision").get_to(links.average_precision);
  json.at("mrr").get_to(links.mrr);
  json.at("hits").get_to(links.hits);
  json.at("hitsAt").get_to(links.hits_at);
  return links;
}

/// Checks the sizes, since readers index these vectors without checking.
void check_sizes(const RunRecord& run) {
  const Index ranks = run.setting.ranks, classes = run.confusion.classes;
  if (ranks < 1 || classes < 0 || classes > 1'000'000) fail("{} ranks, {} classes", ranks, classes);
  if (!run.setting.hosts.empty()) expect_size("hosts", run.setting.hosts.size(), ranks);
  if (!run.peak_memory_bytes.empty()) expect_size("peakMemoryBytes", run.peak_memory_bytes.size(), ranks);
  if (!run.phases_by_rank.empty()) expect_size("phasesByRank", run.phases_by_rank.size(), ranks);
  if (!run.typical_by_rank.empty()) expect_size("typicalEpochByRank", run.typical_by_rank.size(), ranks);
  if (!run.bytes_by_pair.empty()) expect_size("bytesByPair", run.bytes_by_pair.size(), ranks * ranks);
  expect_size("confusion.counts", run.confusion.counts.size(), classes * classes);
}

}  // namespace

std::string epoch_line(const EpochRecord& epoch) {
  Json json;
  put(kEpoch, epoch, json);
  put(kSample, epoch.own, json);
  put(kSampleSince, epoch.own, json);
  if (!epoch.staleness.empty()) put(kEpochSince, epoch, json);
  json["bytes"] = {{"intra", epoch.bytes_intra}, {"inter", epoch.bytes_inter}};
  return text_of(json);
}

EpochRecord parse_epoch_line(const std::string& line) {
  return reading([&] {
    const Json json = Json::parse(line);
    EpochRecord epoch;
    get(kEpoch, json, epoch);
    get(kSample, json, epoch.own);
    get_if_present(kSampleSince, json, epoch.own);
    get_if_present(kEpochSince, json, epoch);
    json.at("bytes").at("intra").get_to(epoch.bytes_intra);
    json.at("bytes").at("inter").get_to(epoch.bytes_inter);
    return epoch;
  });
}

std::string run_document(const RunRecord& run) {
  Json setting, json = {{"format", 1}};
  put(kSetting, run.setting, setting);
  put(kSettingSince, run.setting, setting);
  json["setting"] = std::move(setting);
  put(kRun, run, json);
  put(kRunSince, run, json);
  json["confusion"] = {{"classes", run.confusion.classes}, {"counts", run.confusion.counts}};
  if (run.links) json["links"] = links_json(*run.links);
  return text_of(json, 1) + "\n";
}

RunRecord parse_run_document(const std::string& text) {
  return reading([&] {
    const Json json = Json::parse(text);
    if (json.at("format") != 1) fail("format {}, but this version reads 1", json.at("format").dump());
    RunRecord run;
    get(kSetting, json.at("setting"), run.setting);
    get_if_present(kSettingSince, json.at("setting"), run.setting);
    get(kRun, json, run);
    get_if_present(kRunSince, json, run);
    json.at("confusion").at("classes").get_to(run.confusion.classes);
    json.at("confusion").at("counts").get_to(run.confusion.counts);
    if (json.contains("links")) run.links = parse_links(json.at("links"));
    check_sizes(run);
    return run;
  });
}

}  // namespace atl
