#include "strategies/schedule/batch_feed.h"

namespace atl {

BatchFeed::BatchFeed(Communicator& comm, const BatchGraph& graph, const BatchFeedOptions& options)
    : comm_(comm),
      graph_(graph),
      options_(options),
      samplings_(batch_samplings(graph, comm, options.batches, options.ahead)) {}

void BatchFeed::stop() {
  waited_before_ = counts_.waited_seconds;
  stream_.reset();
}

void BatchFeed::start(std::int64_t step) {
  stop();
  end_ = options_.epochs * seeds().steps();
  if (step >= end_) end_ = step + seeds().steps();  // a benchmark runs beyond the job's epochs
  stream_.emplace(
      makers_of(samplings_, comm_.trace()),
      BatchStream::Options{
          .first = step, .end = end_, .ahead = options_.ahead, .held = options_.held, .comm = &comm_});
  next_ = step;
}

const StreamedBatch& BatchFeed::next() {
  const StreamedBatch& made = *stream_->next();
  ++next_;
  counts_.own_rows += made.fetched.own;
  counts_.gpu_rows += made.fetched.held;
  counts_.cached_rows += made.fetched.hits;
  counts_.fetched_rows += made.fetched.fetched;
  counts_.waited_seconds = waited_before_ + stream_->figures().waited_seconds;
  return made;
}

std::span<const VertexId> BatchFeed::owned_rows(const Batch& batch) {
  rows_.assign(batch.seeds().begin(), batch.seeds().end());
  for (VertexId& row : rows_) row -= VertexId(graph_.owners.first_row(comm_.rank()));
  return rows_;
}

}  // namespace atl
