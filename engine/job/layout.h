// How a strategy's ranks want to stand: which of them must share a server, and how much each pair talks. The
// planner and the operator place ranks by it; it is computed without data, MPI or a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

/// Of a job.
inline constexpr int kMostRanks = 4096;

struct Layout {
  /// Ranks that must share a server, each rank in exactly one group, ascending.
  std::vector<std::vector<Rank>> groups;
  /// What each group has that others don't, as users read it: "stage 2". Empty: all have the like.
  std::vector<std::string> holds{};
  /// Any rank may train any part of the graph.
  bool ranks_are_alike = false;
};

/// Rows of `from` that `to` reads in each layer of an epoch: an entry of the cut between two parts.
struct CutRows {
  Rank from = 0, to = 0;
  Index rows = 0;
};

/// What a prepared graph and a model mean for traffic.
struct TrafficShape {
  int ranks = 1;
  int parts = 1;        // of the graph: as many as ranks, or each the same for several
  Index vertices = 0;   // that training sees
  Index halo_rows = 0;  // rows exchanged a layer and epoch, summed over ranks
  // columns of each convolution's input that is exchanged every epoch (not: fixed inputs)
  std::vector<Index> widths{};
  std::vector<Index> parameters{};       // by sum: scalars whose gradients are summed over all ranks at once
  int bytes_per_value = 4;               // of rows and their gradients, as they cross
  int bytes_per_weight = 4;              // of gradients that are summed
  std::vector<Index> repeated_widths{};  // of those, what training.recompute: layer fetches again
  std::vector<Index> owned_by_rank{};    // (ranks, or parts) rows that each trains
  // Where several ranks aggregate for a vertex, each over some of its neighbours: what crosses for it between
  // its owner and each other of them, in all layers, forward, backward, and forward once more with
  // training.recompute: layer.
  struct RowBytes {
    std::int64_t to_owner = 0, from_owner = 0;
    std::int64_t total() const { return to_owner + from_owner; }
  } forward{}, backward{}, repeated{};
  // by `widths`: rows exchanged, where some layers read copies of other servers' rows
  std::vector<std::vector<CutRows>> server_cut{};
  // Of a pipeline of layers:
  std::vector<Index> stage_columns{};  // (stages − 1) that leave each stage for the next, of rows and taps
  std::vector<int> width_stage{};      // the stage of each of `widths`
};

/// Bytes that all ranks together send in one training epoch, by purpose. Not here: the column sums of batch
/// norm, a few kilobytes.
struct EpochTraffic {
  std::int64_t halo = 0, halo_gradient = 0, gradient = 0;
  std::int64_t recompute = 0;                  // halo rows fetched again
  std::int64_t stage = 0, stage_gradient = 0;  // what goes from stage to stage, and back
  std::int64_t total() const { return halo + halo_gradient + gradient + recompute + stage + stage_gradient; }
};

/// Bytes that `from` sends to `to` in one training epoch. Both are ranks, or both are servers.
struct PairBytes {
  int from = 0, to = 0;
  double bytes = 0;
  // of them rows, in forward passes; their gradients go the other way. What is merged counts with them
  double forward = 0;
};

}  // namespace atl
