// Conditions tell what is true of a job, and since when. A condition's time changes only when its truth does.
// Once a job has ended, none of its conditions changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/json_values.h"

namespace atl::ctl {

inline constexpr const char* kCreated = "Created";
inline constexpr const char* kPlaced = "Placed";
inline constexpr const char* kRunning = "Running";
inline constexpr const char* kSuspended = "Suspended";
inline constexpr const char* kRestarting = "Restarting";
inline constexpr const char* kSucceeded = "Succeeded";
inline constexpr const char* kFailed = "Failed";
/// Whether nodes are asked for, for a gang that waits for room. A job that never waited doesn't have it.
inline constexpr const char* kNodesRequested = "NodesRequested";
/// Whether the API server refuses to delete an object that is to be deleted. A job for which it never refused
/// doesn't have the condition. The word is also the condition's reason.
inline constexpr const char* kDeletionRefused = "DeletionRefused";

/// The reason of Placed and Created, while they are false, as long as the data set is prepared and no places
/// have been looked for. It is also a state.
inline constexpr const char* kPreparing = "Preparing";
/// kPlanned is the reason of Placed when the gang has places. kStarting is the reason of Running, while it is
/// false, when its pods start there.
inline constexpr const char *kPlanned = "Planned", *kStarting = "Starting";
/// The reason of Placed, while it is false, if the scheduler finds no node for the prepare pod. No places
/// have been looked for then.
inline constexpr const char* kUnschedulable = "Unschedulable";
/// The reason of Placed, while it is false, when the number of ranks in a pod has just been chosen. Nothing
/// has been made then.
inline constexpr const char* kPodSizeChosen = "PodSizeChosen";
/// The reason of Placed, while it is false, if the gang doesn't fit; and the reason of Running, while it is
/// false, if the launcher alone doesn't fit.
inline constexpr const char* kNoRoom = "NoRoom";
/// The reason of Created, while it is false, if the API server refuses an object. It is also a state.
inline constexpr const char* kRefused = "Refused";
/// The state and the reason of a job that has no conditions yet.
inline constexpr const char *kNew = "New", *kBegun = "Begun";
/// The state of a job whose gang has no places, or whose prepare pod has no node.
inline constexpr const char* kWaiting = "Waiting";

/// The limits in bytes, as in the resource's schema.
inline constexpr std::size_t kLongestReason = 1024, kLongestMessage = 4096;

struct Condition {
  std::string type;
  bool holds = false;
  std::string reason, message;  // reason: a word for programs; message: sentences for people
  Moment changed{};             // when `holds` last changed
  std::int64_t generation = 0;  // generation of the spec by which the condition was judged
  bool operator==(const Condition&) const = default;
};

/// The condition; null if the job doesn't have it yet.
const Condition* find_condition(const std::vector<Condition>& conditions, const std::string& type);
bool holds(const std::vector<Condition>& conditions, const std::string& type);
/// Whether the job has Succeeded or Failed.
bool has_ended(const std::vector<Condition>& conditions);

/// Sets a condition, whose `changed` is the present moment. The old moment is kept if `holds` stays the same.
/// Changes nothing if the job has ended.
void set_condition(std::vector<Condition>& conditions, Condition condition);

/// The condition that tells most about the job, or about what it waits for. Null if the job has none yet.
const Condition* telling_condition(const std::vector<Condition>& conditions);

/// Since when a gang has found no room for its pods; nothing if it has places, or lacks something else. The
/// time in which its data set was prepared doesn't count, because it needed no room for the gang then.
std::optional<Moment> finds_no_room_since(const std::vector<Condition>& conditions);

/// The conditions in one word: status.state.
std::string state_of(const std::vector<Condition>& conditions);

// A condition in the API's JSON, in Kubernetes' own form, which other projects' objects use too.

Condition read_condition(const nlohmann::json& object);

/// The condition's JSON. Its texts are cut to the lengths that schemas allow.
nlohmann::ordered_json condition_json(const Condition& condition);

}  // namespace atl::ctl
