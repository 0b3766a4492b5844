// The operator's knowledge of a job, kept in the GNNJob's status: users read it, and it is all that an
// operator which has just started goes on from. The schema is engine/job/crd/status_schema.cc.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "operator/api/condition.h"
#include "operator/plan/pod_size.h"

namespace atl::ctl {

struct ServerPlace {
  std::string node;
  std::vector<Rank> ranks;
  std::string holds{};  // Layout::holds
  bool operator==(const ServerPlace&) const = default;
};

/// What the plan costs. Bytes are unknown until the data set's parts are known.
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
  std::optional<Moment> advanced;                                // when an epoch last ended, as observed
  bool operator==(const Progress&) const = default;
};

/// Where a failure began.
struct Culprit {
  std::optional<std::int64_t> rank;
  std::string signal, pod, node;  // "SIGKILL"
  std::string uid{};              // the pod's UID, for the prepare step, whose pods all have one name
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

/// What a job's objects are made of. Kept when a later release reads the same spec differently.
struct MadeOf {
  std::string manifest;  // 10 hex digits: equal for manifests that train alike, whatever their runPolicy
  // likewise: equal where data set, parts and traffic between ranks are
  std::string prepared;
  std::string image;  // of the engine, in every pod; "" until the first pod is made
  bool operator==(const MadeOf&) const = default;
};

struct Status {
  std::int64_t observed_generation = 0;
  std::vector<Condition> conditions;
  MadeOf made_of;
  std::string findings;  // of the prepare step, for made_of.prepared, as the pod told them; "": not here
  PodSize pod_size;      // chosen, or why it isn't yet; empty: manifest and strategy decide
  std::optional<Moment> pod_size_gone;  // since when no nodes could hold pods of that size
  int attempt = 0;      // the newest start of the ranks, which fences the output folder; 0: none yet
  int failures = 0;     // restarts that count against backoffLimit
  int disruptions = 0;  // restarts that count against maxDisruptions
  std::string keys;     // the Secret with the login keys that the job's pods mount; "": none yet
  int withdrawals = 0;  // of its pods, since it last ran, because their room wasn't there
  std::vector<ServerPlace> servers;
  Predicted predicted;
  Progress progress;
  std::vector<Restart> restarts;  // the last kMostRestarts, oldest first
  Result result;
  std::optional<Moment> start, completion;
  bool operator==(const Status&) const = default;

  void add_restart(Restart restart);
  /// Findings about other parts, or another data set, go.
  void record(MadeOf now);
};

inline constexpr std::size_t kMostRestarts = 10;

/// Bytes of Status::findings: no pod's termination message is longer. A ConfigMap has longer ones.
inline constexpr std::size_t kLongestFindings = 4096;

/// The name of the last restart, "" before the first: a pod is annotated with the restart that it was made
/// after.
std::string last_restart(const Status& status);

/// "5m4s", "2h5m", "3d4h"
std::string eta_text(double seconds);

Status read_status(const nlohmann::json& status);

/// The whole status as one JSON object, its texts cut to the schema's lengths.
std::string write_status(const Status& status);

// Each status is written whole, to the API server's disk and to everybody who watches.

/// How long the earlier status may stay written before the present one replaces it. Nothing: both are written
/// alike. 0: at once, because there is news, as the first progress is. Some time: only numbers are new, in
/// progress or in what is said of a lack of room, or the pods of a first plan just exist and start, which
/// they have soon done.
/// A written status is bounded and rounded, and so is the one read back. Comparing only statuses in memory
/// could find a difference for ever.
std::optional<Seconds> may_stay(const Status& before, const Status& now);

}  // namespace atl::ctl
