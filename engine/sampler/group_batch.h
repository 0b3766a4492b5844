// What a rank computes with the feature columns that it holds: the first layers of all batches of its group,
// as one batch.
//
// Rows are numbered like a Batch's: first the output rows, then the other rows that the last of these layers
// reads, then those of the layer before, and so on. Each of these sets lists its rows member by member. So a
// layer's destinations are the first of its sources, and each member's output rows are adjacent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/csr.h"
#include "sampler/batch.h"

namespace atl {

/// The sizes of one member's batch, which it sends to the others: numbers of rows and arcs.
class PushedSizes {
 public:
  /// The number of values for `hops` layers.
  static std::size_t length(int hops) { return 3 * std::size_t(hops) + 1; }
  PushedSizes(std::span<const std::int64_t> values, int hops) : values_(values), hops_(hops) {}

  /// Set 0 holds the output rows, set `hops` all rows.
  Index rows(int set) const { return values_[std::size_t(set)]; }
  Index all_rows() const { return rows(hops_); }
  /// Hop 0 is nearest to the input.
  Index destinations(int hop) const { return rows(hops_ - 1 - hop); }
  Index arcs(int hop) const { return values_[std::size_t(hops_) + std::size_t(hop) + 1]; }
  bool weighted(int hop) const { return values_[2 * std::size_t(hops_) + std::size_t(hop) + 1] != 0; }

  /// Writes the sizes of the first `hops` layers of a batch.
  static void of(const Batch& batch, int hops, std::vector<std::int64_t>& values);

 private:
  std::span<const std::int64_t> values_;
  int hops_;
};

struct GroupBatchOptions {
  int hops = 1;  // number of layers that gather, counted from the input
  Normalisation normalisation = Normalisation::kSum;
  bool transposed = false;  // whether there is a backward pass through these layers
  bool places = false;      // whether transposed arcs know their places among the original arcs (attention)

  bool scales_destinations() const { return normalisation != Normalisation::kSum && hops > 0; }
  bool scales_sources() const { return normalisation == Normalisation::kSymmetric; }
};

/// Reusable. Not thread-safe.
class GroupBatch {
 public:
  /// Makes room for batches of these sizes (members × PushedSizes::length()). Only the numbers of rows and
  /// arcs are defined afterwards.
  void shape(const GroupBatchOptions& options, std::span<const std::int64_t> sizes, int place);
  /// Call after shape(). Takes the bytes that each member pushes (pack()), and the ids of the member's rows.
  void fill(std::span<const std::byte* const> pushed, std::span<const VertexId* const> ids);

  int hops() const { return options_.hops; }
  /// A view, valid until the next shape().
  Block block(int hop) const;
  std::span<const VertexId> ids() const { return ids_.span(); }  // (rows) the data set's
  Index all_rows() const { return ids_.size(); }
  /// The number of output rows (set 0) of all members. A member has whole_count() of them, from
  /// whole_begin().
  Index whole_rows() const { return set_begin_.empty() ? 0 : set_begin_[1]; }
  Index whole_begin(int member) const { return shells_[std::size_t(member)]; }
  Index whole_count(int member) const { return whole_begin(member + 1) - whole_begin(member); }
  int place() const { return place_; }
  /// Rows that the layer of hop 0, 1, … writes.
  Index destinations(int hop) const { return set_begin_[std::size_t(options_.hops - hop)]; }
  Index sources(int hop) const { return destinations(hop - 1); }
  /// The number of rows that the first layer writes; all rows, if no layer gathers.
  Index first_destinations() const { return options_.hops > 0 ? destinations(0) : all_rows(); }

  /// The bytes that a member pushes to each other member, without ids: its layers' arcs and scales.
  static Index pushed_bytes(const GroupBatchOptions& options, const PushedSizes& sizes);
  static void pack(const GroupBatchOptions& options, const Batch& batch, std::byte* to);

  Index reallocations() const;
  Index bytes() const;

 private:
  PushedSizes sizes_of(int member) const {
    const std::size_t length = PushedSizes::length(options_.hops);
    return {std::span(sizes_).subspan(std::size_t(member) * length, length), options_.hops};
  }
  Index& shell_begin(int set, int member) {
    return shells_[std::size_t(set) * std::size_t(members_ + 1) + std::size_t(member)];
  }
  void lay_out_rows();
  void number_rows(int member);
  void take_degrees(int member, const std::byte* from);
  void take_arcs(int member, const std::byte* from);

  GroupBatchOptions options_;
  int members_ = 0, place_ = 0;
  std::vector<std::int64_t> sizes_;
  // (hops + 2) where the rows begin that are new in a set; the last entry is the number of all rows
  std::vector<Index> set_begin_;
  // (hops + 1, members + 1) for a set and a member: the first of the member's rows that are new in the set
  std::vector<Index> shells_;
  struct Layer {
    Reusable<Index> offsets;
    Reusable<VertexId> columns;
    Reusable<float> weights;
    bool weighted = false;
    TransposedArcs transpose;
  };
  std::vector<Layer> layers_;
  Reusable<VertexId> ids_;
  Reusable<VertexId> numbers_;  // (a member's rows) their numbers in this batch
  Reusable<Real> dst_scale_, src_scale_;
  Reusable<std::uint32_t> cursors_;
};

}  // namespace atl
