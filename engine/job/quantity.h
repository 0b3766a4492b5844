// Kubernetes quantities: 16Gi, 200k, 500m, 1.5M, 2e3.
#pragma once

#include <optional>
#include <string>

namespace atl {

/// The same as a regular expression, without a sign: what parse_quantity() reads of a text that isn't
/// negative.
inline constexpr const char* kQuantityPattern =
    "^[+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$";

/// The quantity's value in its base unit (bytes, cores, pieces), or nothing where `text` isn't one.
std::optional<double> parse_quantity(const std::string& text);

/// "850mbit", "32gbit", "12GB/s", above 0: in bytes a second; or nothing where `text` is none.
std::optional<double> parse_rate(const std::string& text);
/// What it reads, as a regular expression.
inline constexpr const char* kRatePattern =
    "^([0-9]*[1-9][0-9]*([.][0-9]+)?|[0-9]+[.][0-9]*[1-9][0-9]*)(bit|kbit|mbit|gbit|MB/s|GB/s|TB/s)$";

}  // namespace atl
