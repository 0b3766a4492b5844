// A part's arcs slice by slice, for a pipeline that works on one chunk after the other. Each slice's rows
// read rows of their own slice and rows outside of it, which may be of an earlier epoch (GNNPipe).
#pragma once

#include <span>
#include <vector>

#include "partition/local_graph.h"

namespace atl {

/// A run of neighbouring entries in a list of rows that belong to the same chunk. It begins where the run
/// before ends, and ends before `end`.
struct ChunkRun {
  Index end = 0;
  int chunk = 0;
};

/// One slice's arcs. Memory: the arcs, twice, and the rows outside of the slice that it reads.
struct ChunkBlock {
  Index begin = 0, end = 0;     // the slice's owned rows
  std::vector<VertexId> reads;  // rows of owned + halo that the slice reads and doesn't contain; ascending …
  std::vector<ChunkRun> runs;   // … and their chunks
  std::vector<VertexId> ids;    // (reads) the data set's vertex ids
  std::vector<Real> scale;      // (reads) by the normalisation asked for; empty: all 1
  Csr own, own_transpose;       // (rows × rows)
  Csr outer, outer_transpose;   // (rows × reads)
  std::vector<Index> own_arc, outer_arc;  // places of transposed arcs; filled where attention needs them
};

/// One block per slice, also for slices without arcs. `attention`: as in LocalizeOptions.
std::vector<ChunkBlock> chunk_blocks(const LocalGraph& graph, bool attention);

/// Destinations: the slice's rows; sources: the slice's rows (own), or rows outside of it that they read
/// (outer). Views into `graph` and `chunk`.
Block own_block(const LocalGraph& graph, const ChunkBlock& chunk);
Block outer_block(const LocalGraph& graph, const ChunkBlock& chunk);

}  // namespace atl
