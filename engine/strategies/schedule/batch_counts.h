// Counts over a rank's batches: where their features were, how often memory grew, how long training waited.
#pragma once

#include "base/types.h"

namespace atl {

/// Counts of a strategy with batches, since it was made.
struct BatchCounts {
  Index own_rows = 0, cached_rows = 0, fetched_rows = 0;  // rows of input features, by where they were
  Index reallocations = 0;    // steps in which memory grew for a batch larger than all before
  double waited_seconds = 0;  // that training waited for the next batch
  Index gpu_rows = 0;         // how many of own_rows lay in the GPU's memory

  BatchCounts operator+(const BatchCounts& more) const {
    return {own_rows + more.own_rows,
            cached_rows + more.cached_rows,
            fetched_rows + more.fetched_rows,
            reallocations + more.reallocations,
            waited_seconds + more.waited_seconds,
            gpu_rows + more.gpu_rows};
  }
  BatchCounts operator-(const BatchCounts& before) const {
    return {own_rows - before.own_rows,
            cached_rows - before.cached_rows,
            fetched_rows - before.fetched_rows,
            reallocations - before.reallocations,
            waited_seconds - before.waited_seconds,
            gpu_rows - before.gpu_rows};
  }
};

/// The share of other ranks' rows that were cached; 0 where none was read.
inline double hit_rate(const BatchCounts& c) {
  const Index others = c.cached_rows + c.fetched_rows;
  return others > 0 ? double(c.cached_rows) / double(others) : 0;
}

}  // namespace atl
