// A status as the API's JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "operator/api/condition_json.h"
#include "operator/api/json_values.h"
#include "operator/api/status.h"

namespace atl::ctl {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestName = 253, kLongestWord = 32, kLongestImage = 1024;

/// Kubernetes' shortest form without loss: 12Mi, 1500.
std::string quantity(double bytes) {
  auto whole = std::int64_t(std::llround(std::clamp(bytes, 0.0, 9e18)));
  constexpr const char* kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  std::size_t suffix = 0;
  for (; whole > 0 && whole % 1024 == 0 && suffix + 1 < std::size(kSuffixes); ++suffix) whole /= 1024;
  return std::to_string(whole) + kSuffixes[suffix];
}

void put(Json& object, const char* name, const std::string& text, std::size_t longest) {
  if (const std::string good = bounded(text, longest); !good.empty()) object[name] = good;
}

/// JSON has finite numbers alone.
void put(Json& object, const char* name, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) object[name] = *value;
}

void put_count(Json& object, const char* name, const std::optional<std::int64_t>& count) {
  if (count && *count >= 0) object[name] = *count;
}

void put_bytes(Json& object, const char* name, const std::optional<double>& bytes) {
  if (bytes) object[name] = quantity(*bytes);
}

/// Objects with nothing in them are left out.
void put_object(Json& parent, const char* name, Json object) {
  if (!object.empty()) parent[name] = std::move(object);
}

Json placement_json(const Status& status) {
  Json servers = Json::array(), predicted, placement;
  for (const ServerPlace& server : status.servers) {
    Json& written = servers.emplace_back(Json{{"node", server.node}, {"ranks", server.ranks}});
    if (!server.holds.empty()) written["holds"] = server.holds;
  }
  put_object(placement, "servers", std::move(servers));
  put_bytes(predicted, "interServerBytesPerEpoch", status.predicted.inter_server_bytes);
  put_bytes(predicted, "bestPossible", status.predicted.best_possible);
  put(predicted, "reason", status.predicted.reason, kLongestMessage);
  put_object(placement, "predicted", std::move(predicted));
  return placement;
}

Json made_of_json(const MadeOf& made_of) {
  Json json;
  put(json, "manifest", made_of.manifest, kLongestWord);
  put(json, "prepared", made_of.prepared, kLongestWord);
  put(json, "image", made_of.image, kLongestImage);
  return json;
}

Json progress_json(const Progress& progress) {
  Json json;
  put_count(json, "epoch", progress.epoch);
  put_count(json, "epochs", progress.epochs);
  put(json, "loss", progress.loss);
  put(json, "validation", progress.validation);
  put(json, "epochSeconds", progress.epoch_seconds);
  put(json, "eta", progress.eta, kLongestWord);
  put_count(json, "lastCheckpointEpoch", progress.last_checkpoint_epoch);
  if (progress.advanced) json["advancedTime"] = text_of(*progress.advanced);
  return json;
}

Json traffic_json(const Progress& progress) {
  Json json;
  put_bytes(json, "intraServerBytesPerEpoch", progress.intra_server_bytes);
  put_bytes(json, "interServerBytesPerEpoch", progress.inter_server_bytes);
  return json;
}

Json restart_json(const Restart& restart) {
  Json json{{"time", text_of(restart.time)}}, culprit;
  put_count(culprit, "rank", restart.culprit.rank);
  put(culprit, "signal", restart.culprit.signal, kLongestWord);
  put(culprit, "pod", restart.culprit.pod, kLongestName);
  put(culprit, "node", restart.culprit.node, kLongestName);
  put(culprit, "uid", restart.culprit.uid, kLongestName);
  put_object(json, "culprit", std::move(culprit));
  put(json, "reason", restart.reason, kLongestReason);
  put_count(json, "resumedFromEpoch", restart.resumed_from);
  return json;
}

Json result_json(const Result& result) {
  Json json;
  put(json, "testMetric", result.test);
  put_count(json, "bestEpoch", result.best_epoch);
  return json;
}

}  // namespace

std::string eta_text(double seconds) {
  const auto s = std::int64_t(std::llround(std::clamp(seconds, 0.0, 9e9)));
  if (s < 60) return fmt::format("{}s", s);
  if (s < 3600) return fmt::format("{}m{}s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{}h{}m", s / 3600, s % 3600 / 60);
  return fmt::format("{}d{}h", s / 86400, s % 86400 / 3600);
}

std::string last_restart(const Status& status) {
  return status.restarts.empty() ? "" : text_of(status.restarts.back().time);
}

void Status::add_restart(Restart restart) {
  restarts.push_back(std::move(restart));
  if (restarts.size() > kMostRestarts) restarts.erase(restarts.begin());
}

std::string write_status(const Status& status) {
  Json json{{"observedGeneration", status.observed_generation}};
  put(json, "state", state_of(status.conditions), kLongestWord);
  Json conditions = Json::array(), restarts = Json::array();
  for (const Condition& condition : status.conditions) conditions.push_back(condition_json(condition));
  put_object(json, "conditions", std::move(conditions));
  put_object(json, "madeOf", made_of_json(status.made_of));
  json["attempt"] = status.attempt;
  json["failures"] = status.failures;
  if (status.disruptions > 0) json["disruptions"] = status.disruptions;
  put(json, "keys", status.keys, kLongestName);
  json["withdrawals"] = status.withdrawals;
  put_object(json, "placement", placement_json(status));
  put_object(json, "progress", progress_json(status.progress));
  put_object(json, "traffic", traffic_json(status.progress));
  for (const Restart& restart : status.restarts) restarts.push_back(restart_json(restart));
  put_object(json, "restarts", std::move(restarts));
  put_object(json, "result", result_json(status.result));
  if (status.start) json["startTime"] = text_of(*status.start);
  if (status.completion) json["completionTime"] = text_of(*status.completion);
  return json.dump();
}

}  // namespace atl::ctl
