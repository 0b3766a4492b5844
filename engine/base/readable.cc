#include "base/readable.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace atl {
namespace {

/// 1.21, 12.1, 121, 1210: three digits, more only before the point.
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
}

}  // namespace

std::string duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds < 999.5e-6) return three_digits(seconds * 1e6) + " µs";
  if (seconds < 999.5e-3) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return three_digits(seconds) + " s";
  const auto whole = std::int64_t(std::llround(std::min(seconds, 1e15)));
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  if (whole < 24 * 3600) return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d {:02}h", whole / (24 * 3600), whole / 3600 % 24);
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 6> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  if (!std::isfinite(bytes) || bytes < 0) return "?";
  std::size_t unit = 0;
  for (; bytes >= 1023.5 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{} {}", three_digits(bytes), kUnits[unit]);
}

std::string count_text(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::size_t digits_begin = count < 0 ? 1 : 0;
  for (std::size_t place = text.size(); place > digits_begin + 3; place -= 3) text.insert(place - 3, ",");
  return text;
}

std::string counted_text(std::int64_t count, const std::string& noun) {
  return count_text(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string percent_text(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f} %", fraction * 100) : "?";
}

}  // namespace atl
