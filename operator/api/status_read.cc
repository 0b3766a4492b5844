// A GNNJob's status from the API's JSON. Whoever may write it may write nonsense: what isn't as in the schema reads as
// absent.
#include <nlohmann/json.hpp>

#include "job/quantity.h"
#include "operator/api/condition_json.h"
#include "operator/api/json_values.h"
#include "operator/api/status.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

std::optional<double> bytes_of(const json& object, const char* name) {
  return parse_quantity(text_of(object, name));
}

ServerPlace read_server(const json& object) {
  ServerPlace place{text_of(object, "node"), {}, text_of(object, "holds")};
  for (const json& rank : list_of(object, "ranks"))
    if (rank.is_number_integer()) place.ranks.push_back(rank.get<Rank>());
  return place;
}

Progress read_progress(const json& progress, const json& traffic) {
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

Restart read_restart(const json& object) {
  const json& culprit = member(object, "culprit");
  Restart restart;
  restart.time = moment_of(object, "time").value_or(Moment{});
  restart.culprit = {integer_of(culprit, "rank"), text_of(culprit, "signal"), text_of(culprit, "pod"),
                     text_of(culprit, "node"), text_of(culprit, "uid")};
  restart.reason = text_of(object, "reason");
  restart.resumed_from = integer_of(object, "resumedFromEpoch");
  return restart;
}

}  // namespace

Status read_status(const json& status) {
  Status read;
  read.observed_generation = integer_of(status, "observedGeneration").value_or(0);
  for (const json& condition : list_of(status, "conditions"))
    read.conditions.push_back(read_condition(condition));
  const json& made_of = member(status, "madeOf");
  read.made_of = {text_of(made_of, "manifest"), text_of(made_of, "prepared"), text_of(made_of, "image")};
  read.attempt = int(integer_of(status, "attempt").value_or(0));
  read.failures = int(integer_of(status, "failures").value_or(0));
  read.disruptions = int(integer_of(status, "disruptions").value_or(0));
  read.keys = text_of(status, "keys");
  read.withdrawals = int(integer_of(status, "withdrawals").value_or(0));
  const json& placement = member(status, "placement");
  for (const json& server : list_of(placement, "servers")) read.servers.push_back(read_server(server));
  const json& predicted = member(placement, "predicted");
  read.predicted = {bytes_of(predicted, "interServerBytesPerEpoch"), bytes_of(predicted, "bestPossible"),
                    text_of(predicted, "reason")};
  read.progress = read_progress(member(status, "progress"), member(status, "traffic"));
  for (const json& restart : list_of(status, "restarts")) read.add_restart(read_restart(restart));
  const json& result = member(status, "result");
  read.result = {number_of(result, "testMetric"), integer_of(result, "bestEpoch")};
  read.start = moment_of(status, "startTime");
  read.completion = moment_of(status, "completionTime");
  return read;
}

}  // namespace atl::ctl
