#include "job/strategies/feature_rate.h"

#include "job/option_field.h"

namespace atl {

std::vector<Field> feature_options(const std::string& kind, double initial) {
  const char* source = "DGS, Wan et al. 2022";
  std::vector<Field> options;
  options.push_back(strategy_option(
      kind, "featureRate", initial,
      {.description = "share of the feature columns that is fetched of other ranks' vertices, "
                      "rounded up; 1: all",
       .minimum = 0,
       .maximum = 1,
       .above_minimum = true,
       .source = source}));
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

double feature_rate(const Job& job) {
  const Options& given = job.strategy.options;
  return given.has("featureRate") ? given.number("featureRate") : 1;
}

}  // namespace atl
