// What goes from stage to stage, chunk by chunk: rows and the tap forward, their gradients backward.
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "tensor/context.h"

namespace atl {

/// Matrices of one chunk that travel together.
using ChunkMatrices = std::vector<MatrixView>;

/// What comes from one rank, in the order of an epoch's chunks. A few receives are under way, that of the chunk that is waited for and of those behind it,
/// so that it arrives while others are computed. References outlive it.
class ChunkArrivals {
 public:
  /// As many as arrive at once: places so far apart may have the same matrices.
  static constexpr std::size_t kAhead = 3;

  ChunkArrivals(Context& ctx, Communicator& comm, Rank from) : ctx_(ctx), comm_(comm), from_(from) {}

  /// by_place: where each chunk's matrices go, in the order in which they come. They outlive the last wait().
  void begin(std::vector<ChunkMatrices> by_place, Traffic purpose);
  /// Places are waited for in turn.
  void wait(std::size_t place);

 private:
  void receive(std::size_t place);

  Context& ctx_;
  Communicator& comm_;
  Rank from_;
  Traffic purpose_ = Traffic::kStage;
  std::vector<ChunkMatrices> by_place_;
  std::vector<Event> events_;
  std::vector<RowsFrom> rows_;  // of the one that is started
};

/// What leaves for one rank. Buffers stay put until finish().
class ChunkDepartures {
 public:
  ChunkDepartures(Context& ctx, Communicator& comm, Rank to) : ctx_(ctx), comm_(comm), to_(to) {}

  void send(Traffic purpose, std::span<const MatrixView> matrices);
  void finish();

 private:
  Context& ctx_;
  Communicator& comm_;
  Rank to_;
  std::vector<Event> events_;
  std::vector<RowsTo> rows_;
};

}  // namespace atl
