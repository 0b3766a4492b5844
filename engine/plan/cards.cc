// The table of GPUs that a plan knows by name.
#include "plan/job_plan.h"

#include <fmt/format.h>
#include <span>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

constexpr double kGiga = 1e9, kTera = 1e12;
constexpr double kPcie4 = 25 * kGiga, kPcie5 = 50 * kGiga;  // what 16 lanes reach, of 32 and 64 GB/s

/// Rates of products are measured on layers of 128 and 256 columns, rates of gathers on graphs larger than
/// any cache of the card.
const Card kCards[] = {
    {"a100",
     "A100 (80 GB, SXM)",
     {.triad_bytes = 1.82 * kTera,
      .gather_bytes = 1.82 * kTera,
      .product_flops = 10.4 * kTera,
      .half_flops = 60 * kTera},
     Index(79) << 30,
     kPcie4,
     false,
     "data sheet: 2.04 TB/s and 19.5 Tflop/s, of which it is taken to reach what an H100 reaches of its own, 89 and 53 %; of 312 Tflop/s in bfloat16 19 %"},
    {"h100",
     "H100 (80 GB, SXM)",
     {.triad_bytes = 2.99 * kTera,
      .gather_bytes = 2.99 * kTera,
      .product_flops = 35.6 * kTera,
      .half_flops = 190 * kTera},
     Index(79) << 30,
     kPcie5,
     true,
     "docs/benchmarks/gpu.md"},
    {"h200",
     "H200 (141 GB, SXM)",
     {.triad_bytes = 4.14 * kTera,
      .gather_bytes = 4.4 * kTera,
      .product_flops = 35.8 * kTera,
      .half_flops = 190 * kTera},
     Index(140) << 30,
     kPcie5,
     true,
     "docs/benchmarks/gpu-rates.md"},
};

}  // namespace

const Card& card_of(const std::string& name) {
  const auto found = std::ranges::find(kCards, name, &Card::name);
  if (found == std::end(kCards)) fail("--gpu: '{}' is unknown (use {})", name, card_names());
  return *found;
}

std::string card_names() {
  std::vector<std::string> names;
  for (const Card& card : kCards) names.emplace_back(card.name);
  return fmt::format("{} or {}", joined(std::span(names).first(names.size() - 1), ", "), names.back());
}

}  // namespace atl
