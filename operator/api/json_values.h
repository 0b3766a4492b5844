// Values of the API's JSON that are not text: absent or of another type reads as nothing, because what a pod
// says of itself is not to be trusted.
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

/// "2026-03-01T12:00:05Z"
std::string text_of(Moment moment);

/// Nothing where `text` is no such moment. A fraction of a second is dropped.
std::optional<Moment> parse_moment(const std::string& text);

std::optional<std::int64_t> integer_of(const nlohmann::json& object, const char* name);
std::optional<double> number_of(const nlohmann::json& object, const char* name);  // finite
std::optional<Moment> moment_of(const nlohmann::json& object, const char* name);

/// The list, empty where there is none.
const nlohmann::json& list_of(const nlohmann::json& object, const char* name);

/// At most `most` bytes of it, cut between characters and marked "…" where something is missing; bytes that
/// are no UTF-8 end it.
std::string bounded(const std::string& text, std::size_t most);

// What every object of the API says about itself.

struct Meta {
  std::string name, space, uid, version;  // space: its namespace; version: resourceVersion, opaque
  std::int64_t generation = 0;
  std::optional<Moment> created, deletion;  // deletion: when it is to be gone at the latest
  int grace = 0;                            // seconds between the call to delete and `deletion`
  std::map<std::string, std::string> labels, annotations;
  std::string owner_uid;  // of the one owner that is its controller; "" where it has none

  /// "" where it has none.
  std::string label(const std::string& key) const;
  std::string annotation(const std::string& key) const;
};

Meta read_meta(const nlohmann::json& object);

}  // namespace atl::ctl
