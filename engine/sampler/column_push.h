// Pushes a batch's first layers to the ranks that hold the other columns of the features, and receives the
// first layers of their batches. P3 moves these layers instead of features (Gandhi & Iyer 2021, section
// 3.2.2).
#pragma once

#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sampler/column_share.h"
#include "sampler/feature_rows.h"
#include "sampler/group_batch.h"
#include "sampler/owners.h"
#include "tensor/context.h"

namespace atl {

/// The feature columns that a rank holds, for all vertices.
struct HeldColumns {
  Rows values;  // (vertices of the data set, columns here), in the data set's order
  ColumnShare share;
  bool sparse = false;  // a batch's first layer reads packed columns as sparse rows
};

/// One per sampling thread. Calls are collective over the group. The bytes of sizes, arcs and scales count as
/// RowRoute::structure, those of ids as RowRoute::ids.
class ColumnPush {
 public:
  /// All arguments outlive it.
  ColumnPush(Communicator& comm, ThreadPool& pool, const HeldColumns& held, const GroupBatchOptions& options,
             const RowRoute& route = {});

  /// Fills `into`, the group's batch, and `features` (rows, columns here), which the batch's first layer
  /// reads.
  void push(const Batch& batch, GroupBatch& into, FeatureRows& features);
  Index reallocations() const {
    return outgoing_.reallocations() + arrived_.reallocations() + ids_.reallocations();
  }

 private:
  void exchange_sizes(const Batch& batch);
  void exchange_batches(const Batch& batch);
  PushedSizes sizes_of(int member) const;
  void swap(Traffic purpose);

  Communicator& comm_;
  ThreadPool& pool_;
  const HeldColumns& held_;
  const GroupBatchOptions options_;
  const RowRoute route_;
  std::vector<std::int64_t> mine_, sizes_;  // sizes_: by member
  Reusable<std::byte> outgoing_, arrived_;
  Reusable<VertexId> ids_;  // from other members
  std::vector<const std::byte*> pushed_;
  std::vector<const VertexId*> ids_of_;
  std::vector<Message> sends_, receives_;
};

}  // namespace atl
