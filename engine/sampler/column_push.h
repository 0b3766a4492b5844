// A batch's first layers pushed to the ranks that hold the other columns of the features, and theirs taken:
// what P3 moves instead of features (Gandhi & Iyer 2021, section 3.2.2).
#pragma once

#include <span>
#include <vector>

#include "comm/communicator.h"
#include "sampler/column_share.h"
#include "sampler/feature_rows.h"
#include "sampler/group_batch.h"
#include "sampler/row_requests.h"
#include "tensor/context.h"

namespace atl {

/// The features' columns that a rank has, of all vertices.
struct HeldColumns {
  Rows values;  // (vertices of the data set, columns here), in its order
  ColumnShare share;
  bool sparse = false;  // what a batch's first layer reads of columns that are held packed
};

/// One per sampling thread. Calls are collective over the group, by the route: sizes, arcs and scales as its
/// structure, ids as its ids.
class ColumnPush {
 public:
  /// All outlive it.
  ColumnPush(Communicator& comm, ThreadPool& pool, const HeldColumns& held, const GroupBatchOptions& options,
             const RowRoute& route = {});

  /// into: the group's batch; features (rows, columns here): what its first layer reads.
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
  Reusable<VertexId> ids_;  // of other members
  std::vector<const std::byte*> pushed_;
  std::vector<const VertexId*> ids_of_;
  std::vector<Message> sends_, receives_;
};

}  // namespace atl
