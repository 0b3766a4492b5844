// How a strategy's ranks should be placed: which ranks must share a server, and how many bytes each pair
// exchanges. The planner and the operator place ranks by this. Computing it takes no data, MPI or GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

/// The most ranks of a job.
inline constexpr int kMostRanks = 4096;

struct Layout {
  /// The groups of ranks that must share a server. Each rank is in exactly one group; groups are ascending.
  std::vector<std::vector<Rank>> groups;
  /// By group: the users' name for what only this group has, such as "stage 2". Empty: all groups have the
  /// same.
  std::vector<std::string> holds{};
  /// Whether any rank may train any part of the graph.
  bool ranks_are_alike = false;
};

/// Rows of `from` that `to` reads in each layer of an epoch: one entry of the cut between two parts.
struct CutRows {
  Rank from = 0, to = 0;
  Index rows = 0;
};

/// The properties of a prepared graph and a model that decide the traffic.
struct TrafficShape {
  int ranks = 1;
  int parts = 1;        // parts of the graph: one for each rank, or one for several ranks
  Index vertices = 0;   // vertices that training sees
  Index halo_rows = 0;  // rows exchanged per layer and epoch, summed over ranks
  // by convolution whose input is exchanged every epoch: its columns. Fixed inputs aren't exchanged.
  std::vector<Index> widths{};
  std::vector<Index> parameters{};  // for each sum over ranks, the number of scalars whose gradients it sums
  int bytes_per_value = 4;          // of rows and their gradients on the wire
  int bytes_per_weight = 4;         // of gradients in sums over ranks
  std::vector<Index> repeated_widths{};  // widths that training.recompute: layer fetches again
  std::vector<Index> owned_by_rank{};    // (ranks or parts) how many rows each one trains on
  // Bytes per vertex where several ranks aggregate for one vertex, each over some of its neighbours. They
  // travel between the vertex's owner and each of the other ranks, summed over all layers. `repeated` is the
  // forward that training.recompute: layer repeats.
  struct RowBytes {
    std::int64_t to_owner = 0, from_owner = 0;
    std::int64_t total() const { return to_owner + from_owner; }
  } forward{}, backward{}, repeated{};
  // by `widths`: rows exchanged, for layers that read copies of other servers' rows
  std::vector<std::vector<CutRows>> server_cut{};
  // The next two are for a pipeline of layers. `stage_columns` (stages − 1): how many columns of rows and
  // taps each stage sends to the next.
  std::vector<Index> stage_columns{};
  std::vector<int> width_stage{};  // the stage of each of `widths`
};

/// Bytes that all ranks together send in a training epoch, by purpose. The column sums of batch norm, a few
/// kilobytes, are left out.
struct EpochTraffic {
  std::int64_t halo = 0, halo_gradient = 0, gradient = 0;
  std::int64_t recompute = 0;                  // halo rows that are fetched again
  std::int64_t stage = 0, stage_gradient = 0;  // rows from stage to stage, and their gradients back
  std::int64_t total() const { return halo + halo_gradient + gradient + recompute + stage + stage_gradient; }
};

/// Which epochs of a run send the bytes that its plan says.
enum class PlannedBytes {
  kOfEach,
  kOfTheFirst,  // each later epoch draws other batches or copies
  kTheMost,     // some epochs send less
};

/// Bytes that `from` sends to `to` in a training epoch. Both are ranks, or both are servers.
struct PairBytes {
  int from = 0, to = 0;
  double bytes = 0;
  // the share of `bytes` that is rows and partial sums of forward passes; gradients go the other way
  double forward = 0;
};

}  // namespace atl
