#include "operator/plan/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "job/quantity.h"

namespace atl::ctl {
namespace {

constexpr double kCoreRounding = 1e-6;  // 0.29 cores are 290 thousandths, not 290.00000000000006
constexpr auto kMost = std::numeric_limits<std::int64_t>::max(), kLeast = -kMost;

// Amounts stop at the largest number, because anybody's pod may ask for that much.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t all = 0;
  if (__builtin_add_overflow(a, b, &all)) return a > 0 ? kMost : kLeast;
  return std::max(all, kLeast);
}

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t all = 0;
  if (__builtin_mul_overflow(a, b, &all)) return (a > 0) == (b > 0) ? kMost : kLeast;
  return std::max(all, kLeast);
}

}  // namespace

void Resources::add(const std::string& resource, const std::string& quantity) {
  const auto amount = parse_quantity(quantity);
  if (!amount) fail("{}: '{}' is not a quantity (use a number such as 4, 500m or 16Gi)", resource, quantity);
  add(resource, *amount);
}

void Resources::add(const std::string& resource, double amount) {
  const double units = resource == "cpu" ? amount * 1000 : amount;
  constexpr double kBound = 9e18;  // below kMost, which as a double equals 2⁶³
  std::int64_t& all = amounts_[resource];
  all = sum(all, std::int64_t(std::ceil(std::clamp(units, -kBound, kBound) - kCoreRounding)));
}

Resources& Resources::operator+=(const Resources& other) {
  for (const auto& [resource, amount] : other.amounts_) {
    std::int64_t& all = amounts_[resource];
    all = sum(all, amount);
  }
  return *this;
}

Resources& Resources::operator-=(const Resources& other) {
  for (const auto& [resource, amount] : other.amounts_) {
    std::int64_t& all = amounts_[resource];
    all = sum(all, -amount);
  }
  return *this;
}

Resources Resources::operator*(std::int64_t times) const {
  Resources all = *this;
  for (auto& [resource, amount] : all.amounts_) amount = product(amount, times);
  return all;
}

Resources& Resources::at_least(const Resources& other) {
  for (const auto& [resource, amount] : other.amounts_)
    amounts_[resource] = std::max(amounts_[resource], amount);
  return *this;
}

Resources& Resources::replaced_by(const Resources& other) {
  for (const auto& [resource, amount] : other.amounts_) amounts_[resource] = amount;
  return *this;
}

bool Resources::is_exact() const {
  return std::ranges::none_of(amounts_,
                              [](const auto& one) { return one.second == kMost || one.second == kLeast; });
}

std::int64_t Resources::of(std::string_view resource) const {
  const auto found = amounts_.find(resource);
  return found == amounts_.end() ? 0 : found->second;
}

int Resources::times(const Resources& demand) const {
  std::int64_t most = std::numeric_limits<int>::max();
  auto here = amounts_.begin();  // both maps are in the order of names
  for (const auto& [resource, amount] : demand.amounts_) {
    while (here != amounts_.end() && here->first < resource) ++here;
    const bool is_stated = here != amounts_.end() && here->first == resource;
    if (amount > 0) most = std::min(most, is_stated ? std::max<std::int64_t>(here->second, 0) / amount : 0);
  }
  return int(most);
}

std::string Resources::text() const {
  std::string text;
  for (const auto& [resource, amount] : amounts_) {
    if (resource == "pods" || amount == 0) continue;
    if (!text.empty()) text += ", ";
    if (resource == "cpu")
      text += fmt::format("{:g} cpu", double(amount) / 1000);
    else if (resource == "memory" || resource == "ephemeral-storage")
      text += fmt::format("{} {}", bytes_text(double(amount)), resource);
    else
      text += fmt::format("{} {}", amount, resource);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace atl::ctl
