// Rows of features put together from their columns: each rank that has some of them sends them to whoever
// asks.
#pragma once

#include <vector>

#include "sampler/batch.h"
#include "sampler/column_push.h"
#include "tensor/matrix.h"

namespace atl {

class InputRows {
 public:
  virtual ~InputRows() = default;
  /// out (batch.rows().size(), F), in the host's memory, grows where it must. Collective: every rank makes
  /// the same calls.
  virtual void fetch(const Batch& batch, Matrix& out) = 0;
  /// Held beside `out`.
  virtual Index bytes() const = 0;
};

/// By the compute thread, on Lane::kBulk as Traffic::kEvaluation: numbers of rows, their ids, and the
/// columns.
class ColumnRows final : public InputRows {
 public:
  /// All outlive it.
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
  Reusable<VertexId> asked_ids_;           // one member's after the other's
  std::vector<Matrix> answers_, arrived_;  // (members)
  std::vector<Message> sends_, receives_;
};

}  // namespace atl
