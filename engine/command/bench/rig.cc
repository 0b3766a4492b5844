#include "command/bench/rig.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "job/yaml.h"
#include "launch/launch.h"

namespace atl {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

struct Unit {
  const char* name;
  double bits;
};
constexpr Unit kUnits[] = {{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}};  // coarsest first

}  // namespace

double link_bits(const std::string& rate) {
  double number = 0;
  const auto [unit, error] = std::from_chars(rate.data(), rate.data() + rate.size(), number);
  for (const Unit& known : kUnits)
    if (error == std::errc() && number > 0 && known.name == std::string(unit)) return number * known.bits;
  fail("'{}' is not a rate (use 850mbit, 1gbit, …)", rate);
}

std::string link_rate(double bits) {
  const double digit = std::pow(10, std::floor(std::log10(bits)) - 3);
  const auto rounded = std::int64_t(std::llround(std::max(1.0, std::round(bits / digit) * digit)));
  for (const Unit& unit : kUnits)
    if (rounded % std::int64_t(unit.bits) == 0)
      return fmt::format("{}{}", rounded / std::int64_t(unit.bits), unit.name);
  return fmt::format("{}bit", rounded);
}

Rig Rig::from_environment() {
  Rig rig;
  rig.description_ = variable("ATOLL_RIG");
  rig.program_ = variable("ATOLL_RIG_LINK");
  if (rig.description_.empty()) return rig;
  const Node json = parse_yaml_value(rig.description_, "ATOLL_RIG");  // JSON is YAML
  if (json.kind != Node::Kind::kMap)
    fail("ATOLL_RIG: '{}' is not a JSON object; it is set by tests/rig/run", rig.description_);
  if (const Node* link = json.find("link")) rig.link_ = link->written;
  return rig;
}

void Rig::set_rate(double bits) {
  const std::string rate = link_rate(bits);
  LaunchPlan plan;
  plan.program = {program_, rate};
  plan.message = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  const LaunchEnd end = launch(plan);
  if (end.status != 0) fail("ATOLL_RIG_LINK: {} {} ended with status {}", program_, rate, end.status);
  link_ = rate;
}

}  // namespace atl
