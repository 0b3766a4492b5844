// What one rank holds of a graph: its owned rows, the halo rows that they read, and which rows it sends to
// which rank.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "graph/csr.h"
#include "tensor/matrix.h"

namespace atl {

// Which rank trains which part of a prepared graph. By default rank r trains part r; parts that exchange much
// may be placed on the same server instead (plan/traffic.h).

class PartRanks {
 public:
  /// Each rank trains the part of its own number.
  PartRanks() = default;
  /// `parts` (ranks): the part of each rank; every part once (is_permutation()). Empty: as by default.
  explicit PartRanks(std::vector<int> parts);

  /// The ranks of one of several groups of ranks. Each group trains all parts, in order. `first` is the
  /// group's first rank.
  static PartRanks of_group(Rank first) {
    PartRanks group;
    group.first_ = first;
    return group;
  }

  int part_of(Rank rank) const { return parts_.empty() ? rank - first_ : parts_[std::size_t(rank)]; }
  Rank rank_of(int part) const { return ranks_.empty() ? first_ + part : ranks_[std::size_t(part)]; }

 private:
  Rank first_ = 0;
  std::vector<int> parts_;   // by rank
  std::vector<Rank> ranks_;  // by part
};

/// Whether `parts` has each of 0 … size − 1 once.
bool is_permutation(std::span<const int> parts);

/// Writes the parts by rank as text, "2,0,1,3", and reads them back. Throws Error, which begins with `what`,
/// if the text isn't a permutation for `ranks` ranks.
std::string parts_text(std::span<const int> parts);
std::vector<int> read_parts(const std::string& text, int ranks, const std::string& what);

class PreparedGraph;

// Marks some of a data set's vertices, for instance those that train.

/// A view of the caller's marks, so it takes no memory that grows with the graph. The marks outlive it. Empty
/// marks mark no vertex; what they mean is up to each reader.
class VertexMarks {
 public:
  VertexMarks() = default;
  /// Marks the vertices whose byte in `marks` (vertices) isn't 0.
  VertexMarks(std::span<const std::uint8_t> marks)
      : values_(marks.data(), Index(marks.size()), 1), wanted_(kAnyButZero) {}
  VertexMarks(const std::vector<std::uint8_t>& marks) : VertexMarks(std::span(marks)) {}
  /// Marks the vertices whose value in this column of `table` (vertices, columns) is `wanted`, which isn't 0.
  VertexMarks(View<const std::uint8_t> table, Index column, std::uint8_t wanted)
      : values_(table.data + column, table.rows, 1, table.stride), wanted_(wanted) {}
  static VertexMarks all(Index vertices) {
    static constexpr std::uint8_t kMarked = 1;
    return {View<const std::uint8_t>(&kMarked, vertices, 1, 0), 0, kMarked};
  }
  /// The marked vertices whose label isn't negative. labels: (vertices).
  VertexMarks with_label(std::span<const std::int32_t> labels) const {
    VertexMarks some = *this;
    some.labels_ = labels.data();
    return some;
  }

  bool empty() const { return values_.rows == 0; }
  Index vertices() const { return values_.rows; }
  bool operator[](VertexId v) const {
    const std::uint8_t value = values_.at(v, 0);
    const bool is_wanted = wanted_ == kAnyButZero ? value != 0 : value == wanted_;
    return is_wanted && (labels_ == nullptr || labels_[v] >= 0);
  }
  /// (vertices) 1 where marked.
  std::vector<std::uint8_t> bytes() const;

 private:
  static constexpr std::uint8_t kAnyButZero = 0;
  View<const std::uint8_t> values_;
  std::uint8_t wanted_ = kAnyButZero;
  const std::int32_t* labels_ = nullptr;  // null: vertices without a label count, too
};

// A graph whose rows are divided into contiguous parts, as localize() reads it: a prepared graph, its induced
// half, or the graph that a server of several ranks holds (partition/server_graph.h).

/// Views only; the owner of the arrays outlives them.
struct PartedGraph {
  CsrView graph;                                 // (rows × rows)
  std::span<const Index> part_offsets;           // (parts + 1)
  std::vector<std::span<const VertexId>> halos;  // (parts) each part's halo rows, ascending
  std::span<const VertexId> ids;                 // (rows) the data set's vertex ids
  std::span<const Index> slice_offsets;          // (parts · slices + 1)
  int slices = 1;                                // per part
  std::span<const double> degrees{};             // (rows) for normalisations; empty: the graph's own
};

/// The whole prepared graph, or its induced half.
PartedGraph parted(const PreparedGraph& prepared, bool induced);

/// Rows exchanged with one peer.
struct PeerRows {
  Rank peer;
  std::vector<VertexId> send;  // local owned rows, ascending, that the peer has in its halo
  Index receive_begin = 0;     // in my halo the peer's rows are contiguous: rows receive_begin …
  Index receive_count = 0;     // … receive_begin + receive_count − 1, in the order of the peer's `send`
  int part = 0;                // the part that the peer trains
  /// (slices + 1) My rows of slice k begin at send[send_slices[k]]. The peer's slice k begins at
  /// receive_slices[k] of the receive_count rows that arrive.
  std::vector<Index> send_slices, receive_slices;
};

/// Rows are numbered locally. Owned rows are 0 … owned − 1, slice by slice, each slice's boundary rows first;
/// halo rows are 0 … halo − 1, grouped by owner in the order of parts. Memory grows with the rank's own rows,
/// not with the whole graph. Blocks are views into its arrays, so it must not move while blocks are in use
/// (keep it in a unique_ptr).
class LocalGraph {
 public:
  Rank rank = 0;
  int part = 0;  // the part that the rank trains
  Index owned = 0, boundary = 0, halo = 0;
  // owned rows before this one are the rank's own vertices, the others copies of other servers' vertices
  Index counted = 0;
  std::vector<Index> slices;  // (slices + 1) owned rows of the part's slice k: slices[k] … slices[k + 1] − 1
  std::vector<VertexId> ids;  // (owned + halo) data set's vertex ids, owned first
  Csr own;                    // (owned × owned)
  Csr outer;                  // (owned × halo)
  /// (owned × owned), (halo × owned). own_transpose is empty if it would equal `own` (own_is_symmetric).
  Csr own_transpose, outer_transpose;
  bool own_is_symmetric = false;
  std::vector<Index> own_arc, outer_arc;  // places of transposed arcs; filled where attention needs them
  std::vector<PeerRows> peers;            // peers with anything to exchange, in the order of their parts
  std::vector<Real> dst_scale;            // (owned)        by the normalisation asked for; empty: all 1
  std::vector<Real> src_scale;            // (owned + halo) likewise

  Block own_block() const;    // destinations: owned; sources: owned
  Block outer_block() const;  // destinations: owned; sources: halo
};

struct LocalizeOptions {
  Normalisation normalisation = Normalisation::kSum;
  bool attention = false;  // fill own_arc and outer_arc
  /// For inductive training: the vertices of the data set that the prepared graph was induced on.
  /// Rows are then only the marked vertices; arcs, halo and degrees are the induced graph's. Empty: the whole
  /// graph.
  VertexMarks induced_on = {};
  PartRanks ranks = {};
};

/// Cuts the rank's part out of the prepared graph. Reads only the part's own rows, the degrees of its halo
/// rows, and the segments of the peers' halo lists that lie in its own range. Sends no message.
std::unique_ptr<LocalGraph> localize(const PreparedGraph& graph, Rank rank, const LocalizeOptions& options);
std::unique_ptr<LocalGraph> localize(const PartedGraph& graph, Rank rank, const LocalizeOptions& options);

/// Returns (ranks) how many rows each rank owns: of the whole graph or, in inductive training, only marked
/// vertices.
std::vector<Index> rows_by_rank(const PreparedGraph& graph, const LocalizeOptions& options);

}  // namespace atl
