// Conditions: what is true of a job and since when. A condition's time changes only when its truth does. Once
// a job has ended, none of its conditions changes.
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
/// Whether nodes are asked for, for a gang that waits for room; a job that never waited hasn't it.
inline constexpr const char* kNodesRequested = "NodesRequested";
/// Whether the API server refuses to delete an object that is to go; a job of which none was refused hasn't
/// it. Also the reason.
inline constexpr const char* kDeletionRefused = "DeletionRefused";

/// The reason against Placed and Created while the data set is prepared, before places are looked for. Also a
/// state.
inline constexpr const char* kPreparing = "Preparing";
/// The reason of Placed where the gang has places, and against Running while its pods start there.
inline constexpr const char *kPlanned = "Planned", *kStarting = "Starting";
/// The reason against Placed where the scheduler finds no node for the prepare pod, before places are looked
/// for.
inline constexpr const char* kUnschedulable = "Unschedulable";
/// The reason against Placed where it was just chosen how many ranks a pod has, before anything is made.
inline constexpr const char* kPodSizeChosen = "PodSizeChosen";
/// The reason against Placed where the gang doesn't fit, and against Running where its launcher alone
/// doesn't.
inline constexpr const char* kNoRoom = "NoRoom";
/// The reason against Created where the API server refuses an object. Also a state.
inline constexpr const char* kRefused = "Refused";
/// State and reason of a job that has no conditions yet.
inline constexpr const char *kNew = "New", *kBegun = "Begun";
/// The state of a job whose gang has no places, or whose prepare pod has no node.
inline constexpr const char* kWaiting = "Waiting";

/// Bytes, as in the resource's schema.
inline constexpr std::size_t kLongestReason = 1024, kLongestMessage = 4096;

struct Condition {
  std::string type;
  bool holds = false;
  std::string reason, message;  // one word for programs; sentences for people
  Moment changed{};             // when `holds` last changed
  std::int64_t generation = 0;  // of the spec that the condition was judged by
  bool operator==(const Condition&) const = default;
};

/// Null where the job doesn't have that condition yet.
const Condition* find_condition(const std::vector<Condition>& conditions, const std::string& type);
bool holds(const std::vector<Condition>& conditions, const std::string& type);
/// Whether the job has Succeeded or Failed.
bool has_ended(const std::vector<Condition>& conditions);

/// Enters `condition`, whose `changed` is the present moment; keeps the old moment where `holds` stays the
/// same. Changes nothing in a job that has ended.
void set_condition(std::vector<Condition>& conditions, Condition condition);

/// The condition that tells most of the job, or what it waits for. Null where it has none yet.
const Condition* telling_condition(const std::vector<Condition>& conditions);

/// Since when a gang has found no room for its pods; nothing where it has places, or lacks something else.
/// Its data set may have been prepared for hours before it needed room: that doesn't count.
std::optional<Moment> finds_no_room_since(const std::vector<Condition>& conditions);

/// The conditions in one word: status.state.
std::string state_of(const std::vector<Condition>& conditions);

// A condition as the API's JSON, in Kubernetes' own form, which GNNJobs share with other projects' objects.

Condition read_condition(const nlohmann::json& object);

/// Texts are cut to the lengths that schemas allow.
nlohmann::ordered_json condition_json(const Condition& condition);

}  // namespace atl::ctl
