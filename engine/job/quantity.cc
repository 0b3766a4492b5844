#include "job/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace atl {
namespace {

constexpr std::pair<const char*, double> kSuffixes[] = {
    {"", 1},        {"n", 1e-9},    {"u", 1e-6},    {"m", 1e-3},   {"k", 1e3},     {"M", 1e6},
    {"G", 1e9},     {"T", 1e12},    {"P", 1e15},    {"E", 1e18},   {"Ki", 0x1p10}, {"Mi", 0x1p20},
    {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60}};

constexpr std::pair<const char*, double> kRates[] = {{"bit", 0.125},    {"kbit", 0.125e3}, {"mbit", 0.125e6},
                                                     {"gbit", 0.125e9}, {"MB/s", 1e6},     {"GB/s", 1e9},
                                                     {"TB/s", 1e12}};

}  // namespace

std::optional<double> parse_rate(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number > 0) || !std::isfinite(number)) return {};
  const std::string unit(stop, end);
  for (const auto& [name, size] : kRates)
    if (unit == name) return number * size;
  return {};
}

std::optional<double> parse_quantity(const std::string& text) {
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* end = text.data() + text.size();
  double number = 0;
  // from_chars also reads "inf" and "nan", which are no quantities.
  if (begin == end || (*begin > '9' || (*begin < '0' && *begin != '.' && *begin != '-'))) return {};
  if (*begin == '-' && (begin != text.data() || begin + 1 == end || begin[1] > '9')) return {};
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc()) return {};
  const std::string suffix(stop, end);
  const bool exponent = std::any_of(begin, stop, [](char c) { return c == 'e' || c == 'E'; });
  if (exponent && !suffix.empty()) return {};  // 1e3k: Kubernetes allows an exponent or a suffix, not both
  for (const auto& [name, factor] : kSuffixes) {
    if (suffix == name) return number * factor;
  }
  return {};
}

}  // namespace atl
