// Options of strategies that fetch other ranks' features row by row: how many of their columns come, and what stands for the others.
#pragma once

#include <vector>

#include "job/field.h"
#include "job/job.h"
#include "job/rule.h"

namespace atl {

/// featureRate, which is `initial` where it isn't given (0: the paper's 0.85, but all of few columns), fill and gpuFeatures.
std::vector<Field> feature_options(const std::string& kind, double initial);

/// The share of so many columns that is fetched; 1 where the job's strategy has no such option.
double feature_rate(const Job& job, std::int64_t columns);

/// Warns of those that do nothing. To be called where the job's strategy is `kind`.
void check_feature_options(const Check& check, const std::string& kind);

}  // namespace atl
