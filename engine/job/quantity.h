// Kubernetes quantities: 16Gi, 200k, 500m, 1.5M, 2e3.
#pragma once

#include <optional>
#include <string>

namespace atl {

/// A regular expression for the texts that parse_quantity() reads, except negative ones.
inline constexpr const char* kQuantityPattern =
    "^[+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][-+]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$";

/// The quantity's value in its base unit (bytes, cores, pieces); nothing where `text` isn't a quantity.
std::optional<double> parse_quantity(const std::string& text);

/// The bytes per second of "850mbit", "32gbit" or "12GB/s", above 0; nothing where `text` isn't a rate.
std::optional<double> parse_rate(const std::string& text);
/// A regular expression for the texts that parse_rate() reads.
inline constexpr const char* kRatePattern =
    "^([0-9]*[1-9][0-9]*([.][0-9]+)?|[0-9]+[.][0-9]*[1-9][0-9]*)(bit|kbit|mbit|gbit|MB/s|GB/s|TB/s)$";

}  // namespace atl
