// A part's arcs slice by slice, for a pipeline that works on one chunk after the other. Each slice's rows
// read rows of their own slice and rows outside of it, which may be of an earlier epoch.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "strategies/schedule/strategy.h"

namespace atl {

/// A run of neighbouring entries in a list of rows that belong to the same chunk. It begins where the run
/// before ends, and ends before `end`.
struct ChunkRun {
  Index end = 0;
  int chunk = 0;
};

/// A slice of a part's rows with its arcs, on which a pipeline works at a time.
struct ChunkRows {
  Index begin = 0, end = 0;  // of the owned rows
  Block own, outer;          // destinations: the slice; sources: the slice, and `reads`
  // rows of owned + halo outside of the slice that it reads, ascending; in the host's memory …
  std::span<const VertexId> reads;
  std::span<const ChunkRun> runs;  // … and which chunks they belong to
  Index rows() const { return end - begin; }
};

/// The arrays of one slice. Memory: the arcs, twice, and the rows outside of the slice that it reads.
struct ChunkArrays {
  Index begin = 0, end = 0;     // the slice's owned rows
  std::vector<VertexId> reads;  // rows of owned + halo that the slice reads and doesn't contain; ascending …
  std::vector<ChunkRun> runs;   // … and their chunks
  std::vector<VertexId> ids;    // (reads) the data set's vertex ids
  std::vector<Real> scale;      // (reads) by the normalisation asked for; empty: all 1
  Csr own, own_transpose;       // (rows × rows)
  Csr outer, outer_transpose;   // (rows × reads)
  std::vector<Index> own_arc, outer_arc;  // places of transposed arcs; filled where attention needs them
};

class ChunkSizes final : public ViewSizes {
 public:
  struct Chunk {
    Index rows = 0, reads = 0;           // rows outside it that it reads
    Index own_arcs = 0, outer_arcs = 0;  // to its own rows, and to others
  };
  explicit ChunkSizes(std::span<const ChunkArrays> slices);

  /// By slice.
  std::span<const Chunk> chunks() const { return chunks_; }
  Index bytes() const override { return bytes_; }
  std::unique_ptr<PartView> dry(const LocalGraph& graph, DryArcs arcs) const override;

 private:
  std::vector<Chunk> chunks_;
  Index bytes_ = 0;
};

/// Neither copyable nor movable: blocks point into it, and into the graph, which outlives it.
class ChunkView final : public PartView {
 public:
  /// Cuts one chunk per slice of `graph`, also for slices without arcs. `attention`: as in LocalizeOptions.
  ChunkView(const LocalGraph& graph, bool attention);
  /// Without contents, for a dry run.
  ChunkView(const LocalGraph& graph, const ChunkSizes& sizes, DryArcs arcs);
  ChunkView(const ChunkView&) = delete;

  /// By slice. Blocks lie where kernels read them.
  std::span<const ChunkRows> chunks() const { return chunks_; }
  std::unique_ptr<Schedule> schedule(const ScheduleInput& in) const override;
  void place(DeviceCopies& copies, FunctionRef<Block(const Block& host)> placed) override;
  std::shared_ptr<const ViewSizes> sizes() const override { return sizes_; }

 private:
  std::vector<ChunkArrays> arrays_;  // by slice; it doesn't grow any more once chunks_ point into it
  std::vector<ChunkRows> chunks_;
  std::shared_ptr<const ChunkSizes> sizes_;
};

}  // namespace atl
