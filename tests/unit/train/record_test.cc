#include "train/record.h"

#include <gtest/gtest.h>

#include "train/sample_run.h"

namespace atl {
namespace {

double median_of(const std::vector<double>& seconds) {
  std::vector<EpochRecord> epochs;
  for (const double s : seconds) epochs.emplace_back().epoch_seconds = s;
  return median_epoch_seconds(epochs);
}

TEST(Record, MedianOfEpochTimes) {
  EXPECT_EQ(median_of({}), 0);
  EXPECT_EQ(median_of({3}), 3);
  EXPECT_EQ(median_of({9, 1, 2}), 2);
  EXPECT_EQ(median_of({4, 1, 9, 2}), 3);
}

}  // namespace
}  // namespace atl
