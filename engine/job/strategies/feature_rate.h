// Options of strategies that fetch other ranks' features row by row: how many of their columns come, and what stands for the others.
#pragma once

#include <vector>

#include "job/field.h"
#include "job/job.h"

namespace atl {

/// featureRate, which is `initial` where it isn't given, and fill.
std::vector<Field> feature_options(const std::string& kind, double initial);

/// The share of the columns that is fetched; 1 where the job's strategy has no such option.
double feature_rate(const Job& job);

}  // namespace atl
