// Features of mini-batches on a GPU. A share of its memory holds as many own rows as fit, those with the most
// neighbours first. The GPU reads the other own rows from the host's memory, which is pinned for this, row by
// row as batches draw them. So the host copies only other ranks' rows. If its memory can't be pinned, it
// copies all rows that aren't on the GPU.
//
// The result doesn't depend on where rows lie. If ranks hold rows packed and batches get them dense, the GPU
// holds those that fit dense, and reads none from the host's memory. If batches get sparse rows, the GPU
// holds none: they take few bytes, so the host puts them together.
#pragma once

#include <vector>

#include "sampler/batch_sampling.h"
#include "sampler/batch_stream.h"
#include "sampler/feature_store.h"
#include "tensor/copies.h"

namespace atl {

// Collects a batch's rows in the device's memory. RowSources (sampler/feature_store.h) says where the device
// finds each of them.

/// The matrices whose rows RowSources numbers; they have equally many columns, or are empty.
struct RowPlaces {
  ConstMatrixView held{};   // in the device's memory
  ConstMatrixView hosts{};  // in the host's memory, as the device reads it
};

/// For the compute thread.
class SourcedRows {
 public:
  /// The context must outlive it.
  explicit SourcedRows(Context& ctx) : ctx_(ctx), copies_(ctx) {}

  struct Input {
    Rows rows;  // (rows, cols)
    Rows self;  // as RangeInput::self
  };
  /// given (n, cols): the rows that are in neither place, in the host's memory, stored like the rows in
  /// `places`. The result is valid until the next call; it is `given` itself where the host's memory is the
  /// device's.
  Input of(const RowSources& sources, const RowPlaces& places, const FeatureRows& given);

  Index bytes() const { return memory_.held_bytes() + parts_.held_bytes() + copies_.bytes(); }
  /// How often memory had to grow.
  Index reallocations() const { return reallocations_; }

 private:
  ConstMatrixView dense_of(const RowSources& sources, const RowPlaces& places, const FeatureRows& given);
  void gather(const RowSources& sources, const RowPlaces& places, ConstMatrixView given, MatrixView out);
  MatrixView room_in(Matrix& memory, Index rows, Index cols, Storage storage);

  Context& ctx_;
  Matrix memory_, parts_;  // (1, Reals taken): rows in the batch's order, and by source
  DeviceCopies copies_;
  Index reallocations_ = 0;
};

/// One per rank, used by its compute thread. On a CPU it passes a batch's features on unchanged.
class DeviceFeatures {
 public:
  /// share: how much of the GPU's memory rows may take, 0 … 1. The context and graph.features must outlive
  /// it.
  DeviceFeatures(Context& ctx, const BatchGraph& graph, Rank rank, double share);
  ~DeviceFeatures();
  DeviceFeatures(const DeviceFeatures&) = delete;

  /// Tells the threads that make batches which rows the device has; valid while this lives.
  DevicePlaces places() const { return {held_, hosts_.rows > 0}; }
  /// The matrices that hold these rows.
  RowPlaces rows() const { return {rows_, hosts_}; }
  /// (owned, F) where the GPU has all own rows; otherwise empty.
  ConstMatrixView whole() const { return is_whole_ ? ConstMatrixView(rows_) : ConstMatrixView(); }
  /// (rows of the batch, F), where kernels read them; valid until the next call.
  SourcedRows::Input of(const StreamedBatch& made) {
    return sourced_.of(made.sources, rows(), made.features);
  }

  Index bytes() const { return memory_.held_bytes() + sourced_.bytes(); }
  Index reallocations() const { return sourced_.reallocations(); }

 private:
  void hold_all(const Rows& own);
  void upload(const Rows& own, std::span<const VertexId> rows);
  void hold_some(const BatchGraph& graph, Rank rank, Index count);
  void read_hosts(ConstMatrixView own);

  Context& ctx_;
  Matrix memory_;               // of rows_, on the device
  MatrixView rows_;             // (held, F), stored as the rank holds dense rows
  std::vector<VertexId> held_;  // DevicePlaces::held
  const void* pinned_ = nullptr;
  ConstMatrixView hosts_;  // (owned, F), the pinned rows as the device reads them; no rows: it reads none
  bool is_whole_ = false;
  SourcedRows sourced_;
};

}  // namespace atl
