// A part's arcs slice by slice: what a pipeline works on, one chunk after the other. Each slice's rows read
// rows of its own slice and others, which may be of an earlier epoch (GNNPipe).
#pragma once

#include <span>
#include <vector>

#include "partition/local_graph.h"

namespace atl {

/// Neighbouring entries of a list of rows that are of the same chunk: up to `end`, from where the run before
/// ends.
struct ChunkRun {
  Index end = 0;
  int chunk = 0;
};

/// One slice's arcs. Memory: the arcs, twice, and what is read outside of the slice.
struct ChunkBlock {
  Index begin = 0, end = 0;     // the slice's owned rows
  std::vector<VertexId> reads;  // rows of owned + halo, outside of the slice, that it reads; ascending …
  std::vector<ChunkRun> runs;   // … and of which chunks they are
  std::vector<VertexId> ids;    // (reads) the data set's
  std::vector<Real> scale;      // (reads) by the normalisation asked for; empty: all 1
  Csr own, own_transpose;       // (rows × rows)
  Csr outer, outer_transpose;   // (rows × reads)
  std::vector<Index> own_arc, outer_arc;  // places of transposed arcs; filled where attention needs them
};

/// One block a slice; without arcs where there are none. `attention`: as in LocalizeOptions.
std::vector<ChunkBlock> chunk_blocks(const LocalGraph& graph, bool attention);

/// Destinations: the slice's rows; sources: these, or what they read outside of it. Views into both.
Block own_block(const LocalGraph& graph, const ChunkBlock& chunk);
Block outer_block(const LocalGraph& graph, const ChunkBlock& chunk);

}  // namespace atl
