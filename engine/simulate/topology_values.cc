// Readers of a topology file's fields.
#include "simulate/topology.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "base/error.h"
#include "base/text.h"
#include "job/quantity.h"

namespace atl {
namespace {

struct Unit {
  const char* name;
  double size;
};
constexpr Unit kFlops[] = {{"Gflop/s", 1e9}, {"Tflop/s", 1e12}};
constexpr Unit kTimes[] = {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}};

/// Reads a number ≥ 0 with one of the units: "1gbit", "50us".
double measure(const Node& node, std::span<const Unit> units, const char* examples) {
  double number = 0;
  const std::string& text = node.written;
  const auto [unit, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  for (const Unit& known : units)
    if (node.kind == Node::Kind::kScalar && error == std::errc() && number >= 0 && std::isfinite(number) &&
        known.name == std::string(unit))
      return number * known.size;
  fail("{}: '{}' is not allowed (use {})", node.where, text, examples);
}

}  // namespace

double rate(const Node& node) {
  const auto bytes = node.kind == Node::Kind::kScalar ? parse_rate(node.written) : std::nullopt;
  if (!bytes)
    fail("{}: '{}' is not allowed (use a rate above 0: 850mbit, 32gbit, 12GB/s)", node.where, node.written);
  return *bytes;
}
double flops(const Node& node) {
  const double value = measure(node, kFlops, "operations: 120Gflop/s, 35Tflop/s");
  if (!(value > 0)) fail("{}: '{}' is not allowed (use a rate above 0)", node.where, node.written);
  return value;
}
double seconds(const Node& node) {
  return measure(node, kTimes, "a time: 500ns, 50us, 0.7ms");
}

double number(const Node& node, double above) {
  double value = 0;
  const std::string& text = node.written;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (node.kind != Node::Kind::kScalar || error != std::errc() || end != text.data() + text.size() ||
      !(value > above) || !std::isfinite(value))
    fail("{}: '{}' is not allowed (use a number above {:g})", node.where, text, above);
  return value;
}

int count(const Node& node) {
  int value = 0;
  const std::string& text = node.written;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (node.kind != Node::Kind::kScalar || error != std::errc() || end != text.data() + text.size() ||
      value < 1 || value > kMostRanks)
    fail("{}: '{}' is not allowed (use a whole number, 1 … {})", node.where, text, kMostRanks);
  return value;
}

const std::string& text(const Node& node) {
  if (node.kind != Node::Kind::kScalar) fail("{}: a text is wanted", node.where);
  return node.written;
}

std::vector<int> places(const Node& node, const char* what) {
  if (node.kind != Node::Kind::kList) fail("{}: {} are wanted, as in [0, 1]", node.where, what);
  std::vector<int> all;
  for (const Node& item : node.items) {
    int value = -1;
    const auto [end, error] =
        std::from_chars(item.written.data(), item.written.data() + item.written.size(), value);
    if (item.kind != Node::Kind::kScalar || error != std::errc() || *end != '\0' || value < 0 ||
        value >= kMostRanks)
      fail("{}: '{}' is not allowed (use a whole number, 0 … {})", item.where, item.written, kMostRanks - 1);
    all.push_back(value);
  }
  return all;
}

void read_map(const Node& node, const Readers& readers) {
  if (node.kind != Node::Kind::kMap)
    fail("{}: fields are wanted here, as in {}: …", node.where, readers[0].first);
  for (const auto& [key, value] : node.entries) {
    const auto found = std::ranges::find(readers, key, &Readers::value_type::first);
    if (found != readers.end()) {
      Node named = value;
      named.where += ": " + key;
      found->second(named);
      continue;
    }
    std::vector<std::string> known;
    for (const auto& [name, reader] : readers) known.push_back(name);
    fail("{}: unknown field {}{}", value.where, key, suggestion(key, known));
  }
}

}  // namespace atl
