// Counts over a rank's batches: where their features were, how often memory grew, how long training waited.
#pragma once

#include <functional>

#include "base/members.h"
#include "base/types.h"

namespace atl {

/// Counts of a schedule with batches, since it was made.
struct BatchCounts {
  Index own_rows = 0, cached_rows = 0, fetched_rows = 0;  // rows of input features, by where they were
  Index reallocations = 0;    // steps in which memory grew for a batch larger than all before
  double waited_seconds = 0;  // how long training waited for the next batch
  Index gpu_rows = 0;         // how many of own_rows lay in the GPU's memory

  static constexpr auto members() {
    return std::tuple{Key{"ownRows", &BatchCounts::own_rows},
                      Key{"cachedRows", &BatchCounts::cached_rows},
                      Key{"fetchedRows", &BatchCounts::fetched_rows},
                      Key{"growths", &BatchCounts::reallocations},
                      Key{"waitedSeconds", &BatchCounts::waited_seconds},
                      Key{"gpuRows", &BatchCounts::gpu_rows, Presence::kNewer}};
  }
};

/// Applies `operation` to each count of the two.
template <class Operation>
BatchCounts combined(BatchCounts counts, const BatchCounts& others, Operation operation) {
  each_member<BatchCounts>(
      [&](const auto& each) { counts.*each.member = operation(counts.*each.member, others.*each.member); });
  return counts;
}
inline BatchCounts operator+(const BatchCounts& counts, const BatchCounts& more) {
  return combined(counts, more, std::plus());
}
inline BatchCounts operator-(const BatchCounts& counts, const BatchCounts& before) {
  return combined(counts, before, std::minus());
}

/// The share of other ranks' rows that were cached; 0 where none was read.
inline double hit_rate(const BatchCounts& c) {
  const Index others = c.cached_rows + c.fetched_rows;
  return others > 0 ? double(c.cached_rows) / double(others) : 0;
}

}  // namespace atl
