#include "job/strategies/feature_rate.h"

#include <fmt/format.h>

#include "job/no_effect.h"
#include "job/option_field.h"

namespace atl {
namespace {

constexpr double kRate = 0.85;  // the paper's N_f
constexpr std::int64_t kFewColumns =
    20;  // of ten, one fewer cost a point of accuracy (docs/benchmarks/dgs-accuracy.md)

}  // namespace

std::vector<Field> feature_options(const std::string& kind, double initial) {
  const char* source = "DGS, Wan et al. 2022";
  std::vector<Field> options;
  options.push_back(strategy_option(
      kind, "featureRate", initial,
      {.description = "share of the feature columns that is fetched of other ranks' vertices, "
                      "rounded up; 1: all",
       .minimum = 0,
       .maximum = 1,
       .above_minimum = initial > 0,
       .source = source,
       .default_text = initial > 0 ? ""
                                   : fmt::format("{}, or 1 of fewer than {} columns, each of which counts",
                                                 kRate, kFewColumns)}));
  options.push_back(
      strategy_option(kind, "fill", std::string("zero"),
                      {.description = "what stands for the columns that aren't fetched",
                       .choices = {{"zero", "0"}, {"mean", "the column's mean over the rank's own rows"}},
                       .source = source}));
  options.push_back(strategy_option(
      kind, "gpuFeatures", 0.25,
      {.description = "on a GPU, the share of its memory for features of the rank's own vertices; "
                      "it reads the others in the host's memory",
       .minimum = 0,
       .maximum = 1,
       .may_change = true}));
  return options;
}

double feature_rate(const Job& job, std::int64_t columns) {
  const Options& options = job.strategy.options;
  const double given = options.has("featureRate") ? options.number("featureRate") : 1;
  if (given > 0) return given;
  return columns < kFewColumns ? 1 : kRate;
}

void check_feature_options(const Check& c, const std::string& kind) {
  const std::string block = "strategy." + kind + ".";
  const Options& options = c.job.strategy.options;
  const bool all = options.number("featureRate") == 1;
  if (all) warn_without_effect(c, block + "fill", "with featureRate 1: every column is fetched");
  if (c.job.resources.gpus == 0)
    warn_without_effect(c, block + "gpuFeatures", "without resources.nvidia.com/gpu");
  if (c.job.placement.ranks > 1) return;
  for (const char* option : {"featureRate", "fill"})
    if (!all) warn_without_effect(c, block + option, "on one rank, which fetches nothing");
}

}  // namespace atl
