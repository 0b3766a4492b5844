// Readers of values in the API's JSON that aren't text. A value that is absent or of another type reads as
// nothing, because what a pod reports isn't trusted.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace atl::ctl {

// Moments in the API's format: RFC 3339, UTC, whole seconds.

using Moment = std::chrono::sys_seconds;
using Seconds = std::chrono::seconds;

/// A duration that a user states, limited to a hundred years. The end of a much longer one couldn't be
/// represented, and the duration would seem to be over.
inline Seconds stated_time(std::int64_t seconds) {
  constexpr std::int64_t kLongest = std::int64_t(36'525) * 86'400;
  return Seconds(seconds < kLongest ? seconds : kLongest);
}

/// "2026-03-01T12:00:05Z"
std::string text_of(Moment moment);

/// Reads a moment; nothing if `text` isn't one. A fraction of a second is dropped.
std::optional<Moment> parse_moment(const std::string& text);

std::optional<std::int64_t> integer_of(const nlohmann::json& object, const char* name);
std::optional<double> number_of(const nlohmann::json& object, const char* name);  // finite
std::optional<Moment> moment_of(const nlohmann::json& object, const char* name);

/// The object's list of this name; empty if it has none.
const nlohmann::json& list_of(const nlohmann::json& object, const char* name);

/// At most `most` bytes of the text, cut between characters and marked with "…" if cut. The text ends before
/// the first byte that isn't UTF-8.
std::string bounded(const std::string& text, std::size_t most);

// The metadata of every object of the API.

struct Meta {
  std::string name, space, uid, version;  // space: its namespace; version: resourceVersion, opaque
  std::int64_t generation = 0;
  std::optional<Moment> created, deletion;  // deletion: when it has to be gone at the latest
  int grace = 0;                            // seconds from the call to delete until `deletion`
  std::map<std::string, std::string> labels, annotations;
  std::string owner_uid;  // UID of the owner that controls it; "" if none does

  /// The label's or annotation's value; "" if it isn't set.
  std::string label(const std::string& key) const;
  std::string annotation(const std::string& key) const;
};

Meta read_meta(const nlohmann::json& object);

}  // namespace atl::ctl
