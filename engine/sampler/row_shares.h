// How many ranks compute each row of a step, layer by layer, so that what is summed over rows counts a vertex once: by its owner,
// whom every rank tells which of its rows it computes.
#pragma once

#include <span>
#include <vector>

#include "graph/row_table.h"
#include "sampler/batch.h"
#include "sampler/row_requests.h"

namespace atl {

/// Of a batch's row sets: set h are its first rows, those that h of its layers, counted from the output, read. Set 0 are the seeds.
struct SharedRows {
  std::vector<Recycled<Real>> weights;  // by set: (rows) 1 over the number of ranks that compute the row
  std::vector<double> owned;            // by set: this rank's own rows that some rank computes
};

/// One per sampling thread. Both arguments outlive it.
class RowShares {
 public:
  RowShares(const Owners& owners, Communicator& comm) : requests_(owners, comm) {}

  /// Collective.
  void count(const Batch& batch, SharedRows& into);
  Index growths() const {
    return requests_.growths() + table_.growths() + counts_.growths() + answers_.growths();
  }

 private:
  void count_set(std::span<const VertexId> rows, Recycled<Real>& weights, double& owned);

  RowRequests requests_;
  RowTable table_;
  Recycled<std::int32_t> counts_;  // by number of the table
  Recycled<std::int32_t> answers_, arrived_;
};

}  // namespace atl
