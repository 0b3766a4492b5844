// Two trainings that must be one but for rounding: in float64 over all their epochs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "train/small_job.h"

namespace atl {

/// Relative to `one`; weights to 1 too, so that those near zero don't decide.
inline void expect_same_training(const SmallResult& one, const SmallResult& many, const std::string& what,
                                 double within = 1e-9) {
  ASSERT_EQ(one.losses.size(), many.losses.size());
  for (std::size_t e = 0; e < one.losses.size(); ++e)
    EXPECT_NEAR(one.losses[e], many.losses[e], within * std::abs(one.losses[e]))
        << what << ", epoch " << e + 1;
  EXPECT_NEAR(one.validation, many.validation, within) << what;
  EXPECT_NEAR(one.validation_loss, many.validation_loss, within * std::abs(one.validation_loss)) << what;
  ASSERT_EQ(one.weights.size(), many.weights.size());
  for (std::size_t i = 0; i < one.weights.size(); ++i)
    ASSERT_NEAR(one.weights[i], many.weights[i], within * std::max(1.0, std::abs(double(one.weights[i]))))
        << what;
}

}  // namespace atl
