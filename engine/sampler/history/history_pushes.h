// Which embeddings a step's ranks push to each other: for each vertex that a rank computes and others keep,
// those of all inner layers in which the rank computes it (Vasimuddin et al. 2022, "DistGNN-MB": asynchronous
// embedding push). Ranks tell each other which rows these are when they make the step's batch; the embeddings
// follow when it is trained.
#pragma once

#include "sampler/batch.h"
#include "sampler/history/history_directory.h"

namespace atl {

struct StepPushes {
  PushedRows leaving;   // rows of the batch
  PushedRows arriving;  // slots
  /// Makes room for the largest possible step.
  void make_room(const HistoryRows& rows) {
    leaving.rows.reserve(rows.kept_by_others());
    arriving.rows.reserve(rows.slots());
  }
  Index reallocations() const { return leaving.rows.reallocations() + arriving.rows.reallocations(); }
  Index bytes() const { return leaving.rows.bytes() + arriving.rows.bytes(); }
};

/// Lists the rows that a batch pushes. `places`: each row's place among this rank's rows that its keeper
/// keeps.
void list_pushed(const HistoryRows& rows, const Batch& batch, int layers, PushedRows& leaving,
                 Reusable<VertexId>& places);

/// One per sampling thread. References outlive it.
class HistoryPushes {
 public:
  HistoryPushes(const HistoryRows& rows, const HistoryOptions& options, Communicator& comm);

  /// Batches made from now on continue from the state of `known`.
  void start(const HistoryDirectory& known) { directory_.take(known); }
  const HistoryDirectory& directory() const { return directory_; }
  /// Call before the step's batch is drawn.
  void begin(std::int64_t step) { directory_.begin(step); }
  /// Call after the batch is drawn, with that batch. Collective.
  void exchange(const Batch& batch, StepPushes& into);
  Index reallocations() const { return directory_.reallocations() + places_.reallocations(); }

 private:
  void exchange_counts(StepPushes& step);
  void exchange_places(StepPushes& step);
  void swap();

  Communicator& comm_;
  HistoryDirectory directory_;
  Reusable<VertexId> places_;
  std::vector<Message> sends_, receives_;
};

}  // namespace atl
