// What the operator knows of a job, as it stands in the GNNJob's status: what users read, and all that an
// operator which has just started goes on from. The schema is engine/job/crd/status_schema.cc.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "operator/api/condition.h"

namespace atl::ctl {

struct ServerPlace {
  std::string node;
  std::vector<Rank> ranks;
  std::string holds{};  // Layout::holds
  bool operator==(const ServerPlace&) const = default;
};

/// What the plan costs. Bytes are unknown as long as the data set's parts are.
struct Predicted {
  std::optional<double> inter_server_bytes, best_possible;
  std::string reason;
  bool operator==(const Predicted&) const = default;
};

struct Progress {
  std::optional<std::int64_t> epoch, epochs, last_checkpoint_epoch;
  std::optional<double> loss, validation, epoch_seconds;
  std::string eta;                                               // "5m4s"
  std::optional<double> intra_server_bytes, inter_server_bytes;  // status.traffic: of one epoch
  std::optional<Moment> advanced;                                // when an epoch was last seen to end
  bool operator==(const Progress&) const = default;
};

/// Where a failure began.
struct Culprit {
  std::optional<std::int64_t> rank;
  std::string signal, pod, node;  // "SIGKILL"
  std::string uid{};              // the pod's, where others of its name follow: of the prepare step
  bool operator==(const Culprit&) const = default;
};

struct Restart {
  Moment time{};
  Culprit culprit;
  std::string reason;  // one word: OOMKilled, NodeLost, …
  std::optional<std::int64_t> resumed_from;
  bool operator==(const Restart&) const = default;
};

struct Result {
  std::optional<double> test;
  std::optional<std::int64_t> best_epoch;
  bool operator==(const Result&) const = default;
};

/// What a job's objects are made of. It stays when a later release reads the same spec otherwise.
struct MadeOf {
  std::string manifest;  // the same for manifests that train alike: runPolicy doesn't count. 10 hex digits
  // the same for those whose data set, parts and traffic between ranks are the same, too
  std::string prepared;
  std::string image;  // of the engine, in every pod; "" until the first is made
  bool operator==(const MadeOf&) const = default;
};

struct Status {
  std::int64_t observed_generation = 0;
  std::vector<Condition> conditions;
  MadeOf made_of;
  int attempt = 0;      // the newest start of the ranks; 0: none yet. What the output folder is fenced with
  int failures = 0;     // restarts that count against backoffLimit
  int disruptions = 0;  // restarts that count against maxDisruptions
  std::string keys;     // the Secret with the login keys that the job's pods mount; "": there is none yet
  int withdrawals = 0;  // since it ran last: how often its pods were let go because their room wasn't there
  std::vector<ServerPlace> servers;
  Predicted predicted;
  Progress progress;
  std::vector<Restart> restarts;  // the last kMostRestarts, oldest first
  Result result;
  std::optional<Moment> start, completion;
  bool operator==(const Status&) const = default;

  void add_restart(Restart restart);
};

inline constexpr std::size_t kMostRestarts = 10;

/// What the last restart is called, "" before the first: pods say after which they were made.
std::string last_restart(const Status& status);

/// "5m4s", "2h5m", "3d4h"
std::string eta_text(double seconds);

Status read_status(const nlohmann::json& status);

/// The whole status as one JSON object, its texts bounded as the schema wants them.
std::string write_status(const Status& status);

}  // namespace atl::ctl
