// Conditions: what is true of a job and since when. The time changes only when the truth does; once a job has
// ended, nothing changes any more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
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

/// Why Placed, or Created, doesn't hold while the data set is prepared: nobody has looked for places yet.
/// Also a state.
inline constexpr const char* kPreparing = "Preparing";
/// Why Placed doesn't hold where the scheduler finds no node for the prepare pod. Nobody has looked for
/// places either.
inline constexpr const char* kUnschedulable = "Unschedulable";
/// Why Created doesn't hold. Also a state.
inline constexpr const char* kRefused = "Refused";
/// The state, and the reason for it, of a job of which nothing has been said yet.
inline constexpr const char *kNew = "New", *kBegun = "Begun";
/// The state of a job whose gang has no places, or whose prepare pod has no node.
inline constexpr const char* kWaiting = "Waiting";

/// Bytes, as the resource's schema has them.
inline constexpr std::size_t kLongestReason = 1024, kLongestMessage = 4096;

struct Condition {
  std::string type;
  bool holds = false;
  std::string reason, message;  // one word for programs; sentences for people
  Moment changed{};             // when `holds` changed last
  std::int64_t generation = 0;  // of the spec that it was judged by
  bool operator==(const Condition&) const = default;
};

/// Null where nothing has been said of it yet.
const Condition* find_condition(const std::vector<Condition>& conditions, const std::string& type);
bool holds(const std::vector<Condition>& conditions, const std::string& type);
/// Succeeded or Failed.
bool has_ended(const std::vector<Condition>& conditions);

/// Enters `condition`, `changed` being now; its own is kept where `holds` stays as it was. Nothing happens to
/// a job that has ended.
void set_condition(std::vector<Condition>& conditions, Condition condition);

/// The condition that says most, or what its job waits for. Null where nothing has been said of it yet.
const Condition* telling_condition(const std::vector<Condition>& conditions);

/// What it comes to: status.state.
std::string state_of(const std::vector<Condition>& conditions);

// A condition as the API's JSON: Kubernetes' own form, which GNNJobs and others' objects share.

Condition read_condition(const nlohmann::json& object);

/// Its texts bounded as schemas want them.
nlohmann::ordered_json condition_json(const Condition& condition);

}  // namespace atl::ctl
