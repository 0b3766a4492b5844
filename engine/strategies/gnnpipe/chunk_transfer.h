// What goes from stage to stage, chunk by chunk: rows and the tap forward, their gradients backward.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "strategies/exchange/wire.h"
#include "tensor/context.h"

namespace atl {

/// Matrices of one chunk that travel together: rows, or their gradients, and those of a tap where there is one.
class ChunkMatrices {
 public:
  explicit ChunkMatrices(MatrixView rows) : all_{rows, {}} {}
  ChunkMatrices(MatrixView rows, MatrixView tap) : all_{rows, tap}, count_(2) {}
  std::span<const MatrixView> all() const { return {all_.data(), count_}; }

 private:
  std::array<MatrixView, 2> all_;
  std::size_t count_ = 1;
};

/// What comes from one rank, in the order of an epoch's chunks. A few receives are under way, that of the chunk that is waited for and
/// of those behind it, so that they arrive while it is computed. References outlive it.
class ChunkArrivals {
 public:
  /// As many as arrive at once: places so far apart may have the same matrices.
  static constexpr std::size_t kAhead = 3;

  ChunkArrivals(Context& ctx, Communicator& comm, Rank from, Precision wire)
      : ctx_(ctx), comm_(comm), from_(from), wire_(ctx, wire) {}

  void begin(Traffic purpose);
  /// Where the next chunk's matrices go, of all before the first wait(). They outlive the last.
  void expect(const ChunkMatrices& matrices) { by_place_.push_back(matrices); }
  /// Places are waited for in turn.
  void wait(std::size_t place);

 private:
  void receive(std::size_t place);

  Context& ctx_;
  Communicator& comm_;
  Rank from_;
  Wire wire_;
  Traffic purpose_ = Traffic::kStage;
  std::vector<ChunkMatrices> by_place_;
  std::vector<Event> events_;
  std::vector<Message> messages_;  // of the one that is started
};

/// What leaves for one rank. Buffers stay put until finish().
class ChunkDepartures {
 public:
  ChunkDepartures(Context& ctx, Communicator& comm, Rank to, Precision wire)
      : ctx_(ctx), comm_(comm), to_(to), wire_(ctx, wire) {}

  /// For what is rounded on the way: of all chunks, because they are under way together. `cols`: of each matrix.
  void make_room(Index rows, std::span<const Index> cols);
  /// The matrices stay as they are; first: their first row among all chunks'.
  void send(Traffic purpose, const ChunkMatrices& matrices, Index first);
  /// They aren't whole afterwards.
  void give(Traffic purpose, const ChunkMatrices& matrices);
  void finish();
  Index bytes() const;

 private:
  Context& ctx_;
  Communicator& comm_;
  Rank to_;
  Wire wire_;
  std::vector<Matrix> rooms_;  // by matrix: (rows, Wire::copied_columns())
  std::vector<Event> events_;
  std::vector<Message> messages_;  // of the one that is started
};

}  // namespace atl
