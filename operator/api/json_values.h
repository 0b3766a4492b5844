// Readers of values in the API's JSON other than text. A value that is absent or of another type reads as
// nothing, because what a pod reports isn't trusted.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace atl::ctl {

// Moments as the API writes them: RFC 3339, UTC, whole seconds.

using Moment = std::chrono::sys_seconds;
using Seconds = std::chrono::seconds;

/// A time that a user states, a hundred years at most: a moment that is later by the largest number of
/// seconds would be beyond all moments, and seem to be over.
inline Seconds stated_time(std::int64_t seconds) {
  constexpr std::int64_t kLongest = std::int64_t(36'525) * 86'400;
  return Seconds(seconds < kLongest ? seconds : kLongest);
}

/// "2026-03-01T12:00:05Z"
std::string text_of(Moment moment);

/// Nothing where `text` isn't a moment. A fraction of a second is dropped.
std::optional<Moment> parse_moment(const std::string& text);

std::optional<std::int64_t> integer_of(const nlohmann::json& object, const char* name);
std::optional<double> number_of(const nlohmann::json& object, const char* name);  // finite
std::optional<Moment> moment_of(const nlohmann::json& object, const char* name);

/// The list; empty where there is none.
const nlohmann::json& list_of(const nlohmann::json& object, const char* name);

/// At most `most` bytes of the text, cut between characters and marked "…" where it was cut. The first byte
/// that isn't UTF-8 ends it.
std::string bounded(const std::string& text, std::size_t most);

// The metadata that every object of the API has.

struct Meta {
  std::string name, space, uid, version;  // space: its namespace; version: resourceVersion, opaque
  std::int64_t generation = 0;
  std::optional<Moment> created, deletion;  // deletion: when it is to be gone at the latest
  int grace = 0;                            // seconds from the call to delete until `deletion`
  std::map<std::string, std::string> labels, annotations;
  std::string owner_uid;  // of the owner that is its controller; "" where it has none

  /// "" where it isn't set.
  std::string label(const std::string& key) const;
  std::string annotation(const std::string& key) const;
};

Meta read_meta(const nlohmann::json& object);

}  // namespace atl::ctl
