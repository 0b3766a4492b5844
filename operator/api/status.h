// What the operator knows of a job, kept in the GNNJob's status. Users read it, and an operator that has just
// started continues from it alone. The schema is engine/job/crd/status_schema.cc.
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

/// What the plan costs. The bytes are unknown until the parts of the data set are known.
struct Predicted {
  std::optional<double> inter_server_bytes, best_possible;
  std::string reason;
  bool operator==(const Predicted&) const = default;
};

struct Progress {
  std::optional<std::int64_t> epoch, epochs, last_checkpoint_epoch;
  std::optional<double> loss, validation, epoch_seconds;
  std::string eta;                                               // "5m4s"
  std::optional<double> intra_server_bytes, inter_server_bytes;  // bytes per epoch: status.traffic
  std::optional<Moment> advanced;                                // when an epoch last ended, as observed
  bool operator==(const Progress&) const = default;
};

/// Where a failure began: a rank, a pod, a node.
struct Culprit {
  std::optional<std::int64_t> rank;
  std::string signal, pod, node;  // signal: "SIGKILL"
  std::string uid{};              // UID of a prepare pod: all of them have one name
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

/// What a job's objects are made of. It is kept even if a later release reads the same spec differently.
struct MadeOf {
  std::string manifest;  // 10 hex digits; equal if manifests train alike, whatever their runPolicy
  // likewise 10 hex digits; equal if data set, parts and traffic between ranks are equal
  std::string prepared;
  std::string image;  // the engine image of every pod; "" until the first pod is made
  bool operator==(const MadeOf&) const = default;
};

struct Status {
  std::int64_t observed_generation = 0;
  std::vector<Condition> conditions;
  MadeOf made_of;
  std::string findings;                 // the prepare pod's report for made_of.prepared; "": not here
  PodSize pod_size;                     // chosen, or why none is yet; empty: manifest and strategy decide
  std::optional<Moment> pod_size_gone;  // since when no nodes could hold pods of the chosen size
  int attempt = 0;                      // number of the ranks' last start, which fences the output; 0: none
  int failures = 0;                     // restarts that count against backoffLimit
  int disruptions = 0;                  // restarts that count against maxDisruptions
  std::string keys;     // the Secret with the login keys that the job's pods mount; "": none yet
  int withdrawals = 0;  // plans that failed for lack of room since the ranks last ran
  std::vector<ServerPlace> servers;
  Predicted predicted;
  Progress progress;
  std::vector<Restart> restarts;  // the last kMostRestarts, oldest first
  Result result;
  std::optional<Moment> start, completion;
  bool operator==(const Status&) const = default;

  void add_restart(Restart restart);
  /// Records what the job's objects are made of now. Findings about other parts, or another data set, are
  /// dropped.
  void record(MadeOf now);
};

inline constexpr std::size_t kMostRestarts = 10;

/// The longest Status::findings, in bytes. No termination message of a pod is longer; longer findings are in
/// a ConfigMap.
inline constexpr std::size_t kLongestFindings = 4096;

/// A name for the last restart; "" if there was none. Each pod is annotated with the restart after which it
/// was made.
std::string last_restart(const Status& status);

/// "5m4s", "2h5m", "3d4h"
std::string eta_text(double seconds);

Status read_status(const nlohmann::json& status);

/// The whole status as one JSON object. Its texts are cut to the schema's lengths.
std::string write_status(const Status& status);

// When a status is written. Each write sends the whole status to the API server's disk and to all watchers.

/// How long the written status (`before`) may stay before the present one replaces it. Nothing: both would be
/// written the same. 0: it must be replaced at once, because there is news, such as the first progress. A
/// longer time: only numbers are new, in the progress or in the words about a lack of room, or the pods of a
/// first plan have just been made and start, which soon is news of its own. The written forms are compared,
/// because these are cut and rounded. Statuses in memory could differ from the status read back for ever.
std::optional<Seconds> may_stay(const Status& before, const Status& now);

}  // namespace atl::ctl
