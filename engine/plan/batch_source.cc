#include "plan/batch_source.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "graph/transform.h"
#include "train/rank_data.h"

namespace atl {

// The prepared graph as a source of a plan's batches.

namespace {

class PreparedSource final : public BatchSource {
 public:
  PreparedSource(const Job& job, const PreparedGraph& prepared)
      : prepared_(prepared),
        inductive_(job.training.setting == Setting::kInductive),
        by_id_(graph_transforms(job).by_id),
        graph_(prepared.graph()) {}

  std::span<const Index> part_offsets() const override { return prepared_.part_offsets(); }
  std::span<const VertexId> ids() const override { return prepared_.ids(); }
  std::span<const Index> arc_offsets() const override {
    return {graph_.offsets, std::size_t(graph_.rows) + 1};
  }
  bool weighted() const override { return graph_.weights != nullptr; }
  std::span<const VertexId> sources(Index row, std::vector<VertexId>&) const override {
    return {graph_.columns + graph_.offsets[row], std::size_t(graph_.degree(row))};
  }
  std::unique_ptr<Structure> structure(ThreadPool& pool) const override {
    return mapped_structure(drawn_graph(prepared_, inductive_, by_id_), pool);
  }
  Index most_slabs() const override { return std::numeric_limits<Index>::max(); }

 private:
  const PreparedGraph& prepared_;
  const bool inductive_, by_id_;
  const CsrView graph_;
};

}  // namespace

std::unique_ptr<BatchSource> batch_source(const Job& job, const PreparedGraph& prepared) {
  return std::make_unique<PreparedSource>(job, prepared);
}

// The data set as a source of a plan's batches: divided and numbered as preparing would do it, but nothing is
// written, and arcs are copied only where that can't be avoided.

namespace {

constexpr Index kSlabs = 32;  // the slabs of a rank that a plan counts in a large graph
using Loops = GraphTransforms::SelfLoops;

/// A graph in the data set's numbering, transformed as preparing would do it. Self-loops are added or left
/// out when a row is read.
struct TransformedRows {
  CsrView arcs;
  Loops loops = Loops::kKeep;
  bool has_loops = true;   // whether arcs may contain loops
  VertexMarks marks = {};  // the vertices that may have arcs; empty: all may

  struct Row {
    std::span<const VertexId> columns;  // ascending, its loops among them
    Index loops_begin = 0, loops_end = 0;
    Index loops = 0;  // self-loops after the transform

    Index others() const { return Index(columns.size()) - (loops_end - loops_begin); }
    VertexId other(Index place) const {
      return columns[std::size_t(place < loops_begin ? place : place + loops_end - loops_begin)];
    }
  };

  Row row(VertexId v) const {
    if (!marks.empty() && !marks[v]) return {};
    Row row{{arcs.columns + arcs.offsets[v], std::size_t(arcs.degree(v))}, 0, 0, 0};
    if (has_loops) {
      const auto [begin, end] = std::equal_range(row.columns.begin(), row.columns.end(), v);
      row.loops_begin = begin - row.columns.begin();
      row.loops_end = end - row.columns.begin();
    }
    row.loops = loops == Loops::kAdd ? 1 : loops == Loops::kRemove ? 0 : row.loops_end - row.loops_begin;
    return row;
  }

  /// Call on weighted arcs only.
  float other_weight(const Row& row, Index place) const {
    return arcs.weights[(row.columns.data() - arcs.columns) +
                        (place < row.loops_begin ? place : place + row.loops_end - row.loops_begin)];
  }
  float loop_weight(const Row& row) const {
    return row.loops_begin == row.loops_end
               ? 1.F
               : arcs.weights[(row.columns.data() - arcs.columns) + row.loops_begin];
  }
  double degree(const Row& row) const {
    if (arcs.weights == nullptr) return double(row.loops + row.others());
    double sum = double(row.loops) * double(loop_weight(row));
    for (Index place = 0; place < row.others(); ++place) sum += double(other_weight(row, place));
    return sum;
  }
};

/// Draws as RowDraws does; columns of a row are in the order of ids.
class DatasetStructure final : public Structure {
 public:
  DatasetStructure(const TransformedRows& graph, std::span<const VertexId> ids,
                   std::span<const VertexId> row_of)
      : graph_(graph), ids_(ids), row_of_(row_of) {}

  bool weighted() const override { return graph_.arcs.weights != nullptr; }

  void draw(const HopDraw& hop, std::span<const VertexId> rows, DrawnArcs& out) override {
    out.neighbours.take(Index(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = graph_.row(ids_[std::size_t(rows[i])]);
      const double degree = graph_.degree(row);
      if (hop.kept == nullptr)
        out.neighbours[Index(i)] = {std::uint32_t(row.loops), std::uint32_t(row.others()), degree};
      else
        out.neighbours[Index(i)] = {0, std::uint32_t(keep_row(*hop.kept, rows[i], row, nullptr)), degree};
    }
    out.lay_out(hop, weighted() || hop.weighs());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto begin = out.offsets[Index(i)], count = out.offsets[Index(i) + 1] - begin;
      const auto columns = out.columns.span().subspan(std::size_t(begin), std::size_t(count));
      const auto weights = out.weights.span().subspan(out.weights.size() > 0 ? std::size_t(begin) : 0);
      if (hop.kept == nullptr)
        draw_row(hop, rows[i], out.neighbours[Index(i)], columns, weights);
      else
        keep_row(*hop.kept, rows[i], graph_.row(ids_[std::size_t(rows[i])]), columns.data());
    }
    if (hop.kept != nullptr) std::ranges::fill(out.weights.span(), 1.F);  // no kernel reads these weights
  }

  void describe(const HopDraw&, std::span<const VertexId> rows, std::span<VertexId> ids,
                std::optional<std::span<double>> degrees) override {
    for (std::size_t i = 0; i < rows.size(); ++i) ids[i] = ids_[std::size_t(rows[i])];
    if (degrees) std::ranges::fill(*degrees, 1.0);
  }

  Index reallocations() const override { return 0; }

 private:
  /// Writes the row's kept arcs, loops first, to `columns` unless that is null. Returns their number.
  Index keep_row(const KeptArcs& kept, VertexId row, const TransformedRows::Row& from,
                 VertexId* columns) const {
    Index count = from.loops;
    if (columns != nullptr) std::fill_n(columns, from.loops, row);
    for (Index place = 0; place < from.others(); ++place) {
      const VertexId column = row_of_[std::size_t(from.other(place))];
      if (!kept.keeps(row, column, from.loops + place)) continue;
      if (columns != nullptr) columns[count] = column;
      ++count;
    }
    return count;
  }

  void draw_row(const HopDraw& hop, VertexId row, const NeighbourCounts& neighbours,
                std::span<VertexId> columns, std::span<float> weights) {
    const VertexId id = ids_[std::size_t(row)];
    const auto from = graph_.row(id);
    std::ranges::fill(columns.first(neighbours.loops), row);
    const std::span<VertexId> drawn = columns.subspan(neighbours.loops);
    const std::uint64_t key = hop.draws.row_key(std::uint64_t(id));
    if (neighbours.whole(hop))
      std::iota(drawn.begin(), drawn.end(), VertexId(0));
    else if (hop.replace)
      PositionDraws::with_replacement(key, neighbours.others, drawn);
    else
      positions_.without_replacement(key, neighbours.others, drawn);
    if (weighted()) {
      std::fill_n(weights.begin(), neighbours.loops, graph_.loop_weight(from));
      for (std::size_t i = 0; i < drawn.size(); ++i)
        weights[neighbours.loops + i] = graph_.other_weight(from, drawn[i]);
    }
    for (VertexId& place : drawn) place = row_of_[std::size_t(from.other(place))];
  }

  const TransformedRows graph_;
  std::span<const VertexId> ids_, row_of_;
  PositionDraws positions_;
};

class DatasetSource final : public BatchSource {
 public:
  DatasetSource(const Job& job, const Dataset& dataset, Index most_ordered) {
    transform(dataset, graph_transforms(job), job);
    is_ordered_ = whole_.arcs.arcs() <= most_ordered;
    number_rows(parts_of(job), dataset.meta().symmetric || job.dataset.symmetrise);
    arc_offsets_.reserve(ids_.size() + 1);
    for (const VertexId v : ids_) {
      const auto row = whole_.row(v);
      arc_offsets_.push_back(arc_offsets_.back() + row.loops + row.others());
    }
  }

  std::span<const Index> part_offsets() const override { return part_offsets_; }
  std::span<const VertexId> ids() const override { return ids_; }
  std::span<const Index> arc_offsets() const override { return arc_offsets_; }
  bool weighted() const override { return whole_.arcs.weights != nullptr; }
  std::span<const VertexId> sources(Index row, std::vector<VertexId>& buffer) const override {
    const auto from = whole_.row(ids_[std::size_t(row)]);
    buffer.assign(std::size_t(from.loops), VertexId(row));
    for (Index place = 0; place < from.others(); ++place)
      buffer.push_back(row_of_[std::size_t(from.other(place))]);
    return buffer;
  }
  std::unique_ptr<Structure> structure(ThreadPool&) const override {
    return std::make_unique<DatasetStructure>(drawn_, ids_, row_of_);
  }
  Index most_slabs() const override { return is_ordered_ ? std::numeric_limits<Index>::max() : kSlabs; }

 private:
  /// Copies the graph into memory only where arcs are added or vertices left out.
  void transform(const Dataset& dataset, const GraphTransforms& transforms, const Job& job) {
    const DatasetMeta& meta = dataset.meta();
    whole_ = {dataset.graph(), transforms.self_loops, meta.self_loops > 0};
    if (transforms.symmetrise && !meta.symmetric) {
      symmetrised_ = symmetrise(whole_.arcs);
      whole_.arcs = symmetrised_.view();
    }
    drawn_ = whole_;
    if (!transforms.induced) return;
    drawn_.marks = training_marks(dataset, job);
    induced_ = induced_subgraph(whole_.arcs, drawn_.marks.bytes());
    drawn_.arcs = induced_.view();
  }

  static PartitionOptions parts_of(const Job& job) {
    PartitionOptions options = partition_options(job, job.placement.ranks);
    if (assumes_parts(job)) options.kind = "hash";
    return options;
  }

  /// Numbers rows as preparing would or, in a large graph, by part alone.
  void number_rows(const PartitionOptions& options, bool is_symmetric) {
    check_parts(options, whole_.arcs.rows);
    if (is_ordered_) {
      RowOrder order = order_rows(whole_.arcs, is_symmetric, options, {});
      part_offsets_ = std::move(order.part_offsets);
      ids_ = std::move(order.ids);
    } else {
      sort_by_part(options);
    }
    row_of_.resize(ids_.size());
    for (std::size_t row = 0; row < ids_.size(); ++row) row_of_[std::size_t(ids_[row])] = VertexId(row);
  }

  void sort_by_part(const PartitionOptions& options) {
    std::vector<std::int32_t> part(std::size_t(whole_.arcs.rows), 0);
    if (options.parts > 1) find_partitioner(options.kind).assign({}, options, part);
    part_offsets_.assign(std::size_t(options.parts) + 1, 0);
    for (const std::int32_t p : part) ++part_offsets_[std::size_t(p) + 1];
    std::partial_sum(part_offsets_.begin(), part_offsets_.end(), part_offsets_.begin());
    std::vector<Index> next = part_offsets_;
    ids_.resize(part.size());
    for (std::size_t v = 0; v < part.size(); ++v)
      ids_[std::size_t(next[std::size_t(part[v])]++)] = VertexId(v);
  }

  bool is_ordered_ = false;
  Csr symmetrised_, induced_;
  TransformedRows whole_, drawn_;
  std::vector<Index> part_offsets_, arc_offsets_{0};
  std::vector<VertexId> ids_, row_of_;  // (vertices) permutations, each the inverse of the other
};

}  // namespace

std::unique_ptr<BatchSource> batch_source(const Job& job, const Dataset& dataset, Index most_ordered) {
  return std::make_unique<DatasetSource>(job, dataset, most_ordered);
}

bool assumes_parts(const Job& job) {
  const PartitionOptions options = partition_options(job, job.placement.ranks);
  return options.parts > 1 && options.kind != "hash" && options.kind != "range";
}

}  // namespace atl
