#include "operator/api/status.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "base/json.h"
#include "job/quantity.h"
#include "operator/api/condition.h"
#include "operator/api/json_values.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {

// Reads a GNNJob's status from the API's JSON. Anybody who may write a status may write nonsense, so values
// that don't fit the schema read as absent.

namespace {

std::optional<double> bytes_of(const nlohmann::json& object, const char* name) {
  return parse_quantity(text_of(object, name));
}

ServerPlace read_server(const nlohmann::json& object) {
  ServerPlace place{text_of(object, "node"), {}, text_of(object, "holds")};
  for (const nlohmann::json& rank : list_of(object, "ranks"))
    if (rank.is_number_integer()) place.ranks.push_back(rank.get<Rank>());
  return place;
}

Progress read_progress(const nlohmann::json& progress, const nlohmann::json& traffic) {
  Progress read;
  read.epoch = integer_of(progress, "epoch");
  read.epochs = integer_of(progress, "epochs");
  read.last_checkpoint_epoch = integer_of(progress, "lastCheckpointEpoch");
  read.loss = number_of(progress, "loss");
  read.validation = number_of(progress, "validation");
  read.epoch_seconds = number_of(progress, "epochSeconds");
  read.eta = text_of(progress, "eta");
  read.intra_server_bytes = bytes_of(traffic, "intraServerBytesPerEpoch");
  read.inter_server_bytes = bytes_of(traffic, "interServerBytesPerEpoch");
  read.advanced = moment_of(progress, "advancedTime");
  return read;
}

Restart read_restart(const nlohmann::json& object) {
  const nlohmann::json& culprit = member(object, "culprit");
  Restart restart;
  restart.time = moment_of(object, "time").value_or(Moment{});
  restart.culprit = {integer_of(culprit, "rank"), text_of(culprit, "signal"), text_of(culprit, "pod"),
                     text_of(culprit, "node"), text_of(culprit, "uid")};
  restart.reason = text_of(object, "reason");
  restart.resumed_from = integer_of(object, "resumedFromEpoch");
  return restart;
}

}  // namespace

Status read_status(const nlohmann::json& status) {
  Status read;
  read.observed_generation = integer_of(status, "observedGeneration").value_or(0);
  for (const nlohmann::json& condition : list_of(status, "conditions"))
    read.conditions.push_back(read_condition(condition));
  const nlohmann::json& made_of = member(status, "madeOf");
  read.made_of = {text_of(made_of, "manifest"), text_of(made_of, "prepared"), text_of(made_of, "image")};
  read.findings = text_of(status, "findings");
  const nlohmann::json& pod_size = member(status, "podSize");
  read.pod_size = {int(integer_of(pod_size, "ranksPerServer").value_or(0)), text_of(pod_size, "reason")};
  read.pod_size_gone = moment_of(pod_size, "goneSince");
  read.attempt = int(integer_of(status, "attempt").value_or(0));
  read.failures = int(integer_of(status, "failures").value_or(0));
  read.disruptions = int(integer_of(status, "disruptions").value_or(0));
  read.keys = text_of(status, "keys");
  read.withdrawals = int(integer_of(status, "withdrawals").value_or(0));
  const nlohmann::json& placement = member(status, "placement");
  for (const nlohmann::json& server : list_of(placement, "servers"))
    read.servers.push_back(read_server(server));
  const nlohmann::json& predicted = member(placement, "predicted");
  read.predicted = {bytes_of(predicted, "interServerBytesPerEpoch"), bytes_of(predicted, "bestPossible"),
                    text_of(predicted, "reason")};
  read.progress = read_progress(member(status, "progress"), member(status, "traffic"));
  for (const nlohmann::json& restart : list_of(status, "restarts")) read.add_restart(read_restart(restart));
  const nlohmann::json& result = member(status, "result");
  read.result = {number_of(result, "testMetric"), integer_of(result, "bestEpoch")};
  read.start = moment_of(status, "startTime");
  read.completion = moment_of(status, "completionTime");
  return read;
}

// Writes a status as the API's JSON.

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestKey = 253, kLongestWord = 32, kLongestImage = 1024;

/// A quantity in Kubernetes' shortest exact form: 12Mi, 1500.
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

/// Writes a number. One that isn't finite is left out, because JSON has no such numbers.
void put(Json& object, const char* name, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) object[name] = *value;
}

void put_count(Json& object, const char* name, const std::optional<std::int64_t>& count) {
  if (count && *count >= 0) object[name] = *count;
}

void put_bytes(Json& object, const char* name, const std::optional<double>& bytes) {
  if (bytes) object[name] = quantity(*bytes);
}

/// Writes an object unless it is empty.
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

/// The number of nodes on which the job has places.
std::size_t nodes_of(const Status& status) {
  std::set<std::string> nodes;
  if (holds(status.conditions, kPlaced))
    for (const ServerPlace& server : status.servers) nodes.insert(server.node);
  return nodes.size();
}

Json made_of_json(const MadeOf& made_of) {
  Json object;
  put(object, "manifest", made_of.manifest, kLongestWord);
  put(object, "prepared", made_of.prepared, kLongestWord);
  put(object, "image", made_of.image, kLongestImage);
  return object;
}

Json pod_size_json(const Status& status) {
  Json object;
  if (status.pod_size.ranks > 0) object["ranksPerServer"] = status.pod_size.ranks;
  put(object, "reason", status.pod_size.reason, kLongestMessage);
  if (status.pod_size_gone) object["goneSince"] = text_of(*status.pod_size_gone);
  return object;
}

Json progress_json(const Progress& progress) {
  Json object;
  put_count(object, "epoch", progress.epoch);
  put_count(object, "epochs", progress.epochs);
  put(object, "loss", progress.loss);
  put(object, "validation", progress.validation);
  put(object, "epochSeconds", progress.epoch_seconds);
  put(object, "eta", progress.eta, kLongestWord);
  put_count(object, "lastCheckpointEpoch", progress.last_checkpoint_epoch);
  if (progress.advanced) object["advancedTime"] = text_of(*progress.advanced);
  return object;
}

Json traffic_json(const Progress& progress) {
  Json object;
  put_bytes(object, "intraServerBytesPerEpoch", progress.intra_server_bytes);
  put_bytes(object, "interServerBytesPerEpoch", progress.inter_server_bytes);
  return object;
}

Json restart_json(const Restart& restart) {
  Json object{{"time", text_of(restart.time)}}, culprit;
  put_count(culprit, "rank", restart.culprit.rank);
  put(culprit, "signal", restart.culprit.signal, kLongestWord);
  put(culprit, "pod", restart.culprit.pod, kLongestKey);
  put(culprit, "node", restart.culprit.node, kLongestKey);
  put(culprit, "uid", restart.culprit.uid, kLongestKey);
  put_object(object, "culprit", std::move(culprit));
  put(object, "reason", restart.reason, kLongestReason);
  put_count(object, "resumedFromEpoch", restart.resumed_from);
  return object;
}

Json result_json(const Result& result) {
  Json object;
  put(object, "testMetric", result.test);
  put_count(object, "bestEpoch", result.best_epoch);
  return object;
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

void Status::record(MadeOf now) {
  if (now.prepared != made_of.prepared) findings.clear();
  made_of = std::move(now);
}

std::string write_status(const Status& status) {
  Json object{{"observedGeneration", status.observed_generation}};
  const Condition* told = telling_condition(status.conditions);
  put(object, "state", state_of(status.conditions), kLongestWord);
  put(object, "reason", told ? told->reason : kBegun, kLongestReason);
  object["nodes"] = nodes_of(status);
  Json conditions = Json::array(), restarts = Json::array();
  for (const Condition& condition : status.conditions) conditions.push_back(condition_json(condition));
  put_object(object, "conditions", std::move(conditions));
  put_object(object, "madeOf", made_of_json(status.made_of));
  put(object, "findings", status.findings, kLongestFindings);
  put_object(object, "podSize", pod_size_json(status));
  object["attempt"] = status.attempt;
  object["failures"] = status.failures;
  if (status.disruptions > 0) object["disruptions"] = status.disruptions;
  put(object, "keys", status.keys, kLongestKey);
  object["withdrawals"] = status.withdrawals;
  put_object(object, "placement", placement_json(status));
  put_object(object, "progress", progress_json(status.progress));
  put_object(object, "traffic", traffic_json(status.progress));
  for (const Restart& restart : status.restarts) restarts.push_back(restart_json(restart));
  put_object(object, "restarts", std::move(restarts));
  put_object(object, "result", result_json(status.result));
  if (status.start) object["startTime"] = text_of(*status.start);
  if (status.completion) object["completionTime"] = text_of(*status.completion);
  return object.dump();
}

}  // namespace atl::ctl
