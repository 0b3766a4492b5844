// Whole rows of features, put together from columns. Each rank sends the columns that it holds to the ranks
// that ask.
#pragma once

#include <vector>

#include "sampler/column_push.h"
#include "strategies/schedule/layerwise_inference.h"

namespace atl {

/// Used by the compute thread. Row numbers, ids and columns travel on Lane::kBulk as Traffic::kEvaluation.
class ColumnRows final : public InputRows {
 public:
  /// All arguments outlive it.
  ColumnRows(Communicator& comm, ThreadPool& pool, const HeldColumns& held)
      : comm_(comm), pool_(pool), held_(held) {}

  void fetch(const Batch& batch, Matrix& out) override;
  Index bytes() const override;

 private:
  void exchange_ids(std::span<const VertexId> ids);
  void swap();
  template <class Visit>
  void for_each_peer(Visit visit) const;

  Communicator& comm_;
  ThreadPool& pool_;
  const HeldColumns& held_;
  std::vector<std::int64_t> asked_;        // (members) how many rows each asks for
  Reusable<VertexId> asked_ids_;           // in the order of members
  std::vector<Matrix> answers_, arrived_;  // (members)
  std::vector<Message> sends_, receives_;
};

}  // namespace atl
