// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace atl {

/// Three digits and a unit below a minute ("850 µs", "12.3 ms", "4.20 s"), then "5m 04s", "2h 05m", "3d 04h".
std::string duration_text(double seconds);
/// Three digits and a binary unit: "0 B", "512 B", "1.21 MiB".
std::string bytes_text(double bytes);
/// "2,708".
std::string count_text(std::int64_t count);
/// "1 rank", "2,708 ranks".
std::string counted_text(std::int64_t count, const std::string& noun);
/// A fraction as "81.5 %".
std::string percent_text(double fraction);

}  // namespace atl
