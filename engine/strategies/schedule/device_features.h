// Features of mini-batches on a GPU: own rows lie in its memory, as many as fit into a share of it, those
// with the most neighbours first. The others it reads in the host's memory, which is pinned for that, row by
// row, as batches draw them. So the host copies other ranks' rows alone; and all rows that aren't in the
// GPU's memory, where the host's can't be pinned.
//
// What comes out doesn't depend on where rows lie. Rows that ranks hold packed lie dense in the GPU's memory,
// where batches get them dense, and aren't read in the host's; batches' sparse rows, which are few bytes, the
// host puts together.
#pragma once

#include <vector>

#include "sampler/batch_graph.h"
#include "sampler/batch_stream.h"
#include "sampler/feature_store.h"
#include "tensor/copies.h"

namespace atl {

// A batch's rows put together where a device's kernels read them, from where the device finds them
// (sampler/feature_store.h).

/// What RowSources' numbers are rows of: matrices of as many columns, or empty ones.
struct RowPlaces {
  ConstMatrixView held{};   // in the device's memory
  ConstMatrixView hosts{};  // in the host's, as the device reads it
};

/// Used by the compute thread.
class SourcedRows {
 public:
  /// The context outlives it.
  explicit SourcedRows(Context& ctx) : ctx_(ctx), copies_(ctx) {}

  struct Input {
    Rows rows;  // (rows, cols)
    Rows self;  // RangeInput::self
  };
  /// given (n, cols): rows that are at neither place, in the host's memory. Valid until the next call; given
  /// itself, where the host's memory is the device's.
  Input of(const RowSources& sources, const RowPlaces& places, const FeatureRows& given);

  Index bytes() const { return rows_.held_bytes() + parts_.held_bytes() + copies_.bytes(); }
  /// How often memory had to grow.
  Index reallocations() const { return reallocations_; }

 private:
  ConstMatrixView dense_of(const RowSources& sources, const RowPlaces& places, const Matrix& given);
  void gather(const RowSources& sources, const RowPlaces& places, const Matrix& given, MatrixView out);

  Context& ctx_;
  Matrix rows_, parts_;  // in order, and by sources
  DeviceCopies copies_;
  Index reallocations_ = 0;
};

/// One per rank, used by its compute thread. On the CPU a batch's features are what they are.
class DeviceFeatures {
 public:
  /// share: of the GPU's memory, 0 … 1. The context and graph.features outlive it.
  DeviceFeatures(Context& ctx, const BatchGraph& graph, Rank rank, double share);
  ~DeviceFeatures();
  DeviceFeatures(const DeviceFeatures&) = delete;

  /// For whoever makes batches, as long as this is there.
  DevicePlaces places() const { return {held_, hosts_.rows > 0}; }
  /// Where these are.
  RowPlaces rows() const { return {rows_, hosts_}; }
  /// (owned, F) where the GPU has all of them; otherwise empty.
  ConstMatrixView whole() const { return is_whole_ ? rows_.view() : ConstMatrixView(); }
  /// (rows of the batch, F), where kernels read them; valid until the next call.
  SourcedRows::Input of(const StreamedBatch& made) {
    return sourced_.of(made.sources, rows(), made.features);
  }

  Index bytes() const { return rows_.held_bytes() + sourced_.bytes(); }
  Index reallocations() const { return sourced_.reallocations(); }

 private:
  void hold_all(const Rows& own);
  void upload(const Rows& own, std::span<const VertexId> rows);
  void hold_some(const BatchGraph& graph, Rank rank, Index count);
  void read_hosts(ConstMatrixView own);

  Context& ctx_;
  Matrix rows_;                 // (held, F), on the device
  std::vector<VertexId> held_;  // DevicePlaces::held
  const void* pinned_ = nullptr;
  ConstMatrixView hosts_;  // (owned, F), what is pinned, as the device reads it; no rows: it doesn't
  bool is_whole_ = false;
  SourcedRows sourced_;
};

}  // namespace atl
