// Moments as the API writes them: RFC 3339, UTC, whole seconds.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace atl::ctl {

using Moment = std::chrono::sys_seconds;
using Seconds = std::chrono::seconds;

/// "2026-03-01T12:00:05Z"
std::string text_of(Moment moment);

/// Nothing where `text` is no such moment. A fraction of a second is dropped.
std::optional<Moment> parse_moment(const std::string& text);

}  // namespace atl::ctl
