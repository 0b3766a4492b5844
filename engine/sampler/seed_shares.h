// How many training vertices of each part each step of an epoch trains on.
//
// A step takes `batch size` vertices over all parts, the last one what is left. Parts give in proportion to what they have left,
// rounded by the largest remainder (Hamilton's method). So each vertex trains once an epoch, no part is asked for more than it has,
// and all ranks are busy until the last step. Shares depend on the parts alone, not on the ranks that own them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

/// Throws Error, which begins with `field`, unless there is at least one vertex in a step.
void check_batch_size(Index batch_size, const std::string& field);

class SeedShares {
 public:
  /// Of a part: places begin … begin + count − 1 of its order.
  struct Share {
    Index begin = 0, count = 0;
  };
  /// training: (parts) training vertices of each.
  SeedShares(std::vector<Index> training, Index batch_size);

  Index vertices() const { return vertices_; }
  std::int64_t steps() const { return (vertices_ + batch_size_ - 1) / batch_size_; }  // of an epoch
  /// Vertices of step 0 … steps() − 1, over all parts.
  Index size(std::int64_t step) const;
  /// (parts) their shares; valid until the next call. Steps in ascending order cost O(parts log parts) each; one that lies
  /// before the last asked for costs as much as all before it.
  std::span<const Share> of_step(std::int64_t step);

 private:
  void restart();
  void advance();

  std::vector<Index> training_;
  Index batch_size_, vertices_ = 0;
  std::int64_t step_ = 0;  // whose shares these are
  std::vector<Share> shares_;
  struct Remainder {
    std::int64_t rest;
    std::size_t part;
  };
  std::vector<Remainder> remainders_;
};

}  // namespace atl
