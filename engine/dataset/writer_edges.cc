// The part of a DatasetWriter for link prediction: the edge split, the arcs that follow from it, and features
// for vertices that have none.
#include "dataset/splits.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "dataset/dataset.h"
#include "dataset/feature_writer.h"
#include "dataset/format/npy_writer.h"
#include "dataset/generate/shuffle.h"
#include "dataset/writer_state.h"

namespace atl {
namespace {

constexpr double kAll = 1;  // share of training edges that are supervised if none are reserved for that

}  // namespace

void DatasetWriter::set_edge_split(EdgeSplit split, const std::string& source) {
  State& s = *state_;
  if (s.options.edge_split) fail("{}: holds an edge split already; leave out --edge-split", source);
  s.edges = std::move(split);
  s.edges_source = source;
}

/// Keeps arcs until all are known, if a split is to be drawn.
void DatasetWriter::State::keep_arcs(std::span<const VertexId> src, std::span<const VertexId> dst) {
  for (std::size_t i = 0; i < src.size(); ++i) {
    largest_kept = std::max({largest_kept, src[i], dst[i]});
    if (src[i] == dst[i])
      arcs.add(src.subspan(i, 1), dst.subspan(i, 1), {});  // a self-loop is no edge of the split, but an arc
    else
      kept_arcs.push_back({src[i], dst[i]});
  }
}

/// Takes as arcs the training edges that carry messages.
void DatasetWriter::State::take_edges() {
  if (options.edge_split) {
    DrawnEdges drawn =
        draw_edges(std::move(kept_arcs), meta.vertices, options.symmetrise, *options.edge_split, meta.name);
    edges = std::move(drawn.split), edges_source = meta.name;
    options.symmetrise = drawn.undirected;
    meta.transforms.push_back("edge split: drawn, " + options.edge_split->description());
  }
  if (!edges) {
    if (options.disjoint)
      fail("{}: --disjoint needs an edge split; add --edge-split random:85/5/10", meta.name);
    return;
  }
  if (options.transpose && !options.edge_split)
    fail("{}: --transpose can't be used with an edge split that is given; turn the pairs there",
         edges_source);
  if (options.weighted) fail("{}: --weights can't be used with an edge split; leave it out", meta.name);
  const LeftOut left = check_edge_split(*edges, meta.vertices, options.symmetrise, edges_source);
  tell_left_out(left);
  tell_two_sides();
  std::vector<VertexPair>& trained = edges->of(PairSet::kTrain);
  const auto all = Index(trained.size());
  const std::uint64_t seed = options.edge_split ? options.edge_split->seed : options.seed;
  const double share = options.disjoint.value_or(kAll);
  meta.pairs.supervised = options.disjoint ? put_supervision_first(trained, share, seed) : all;
  if (options.disjoint && (meta.pairs.supervised == 0 || meta.pairs.supervised == all))
    fail(
        "{}: --disjoint: of {} training edges {} are to be trained on alone; there must be some, and some left",
        meta.name, all, meta.pairs.supervised);
  if (options.disjoint)
    meta.transforms.push_back(
        fmt::format("edge split: {} of {} training edges are trained on and carry no messages",
                    meta.pairs.supervised, all));
  write_edges(options.disjoint ? std::size_t(meta.pairs.supervised) : 0);
}

void DatasetWriter::State::tell_left_out(const LeftOut& left) {
  if (left.all() == 0) return;
  std::string line = fmt::format(
      "edge split: left out {} training edges that were there the other way round, and {} whose reverse is a validation or test edge",
      left.again, left.held_out);
  if (left.measured + left.negatives > 0)
    line += fmt::format(
        "; {} validation and test edges that were there the other way round, and {} negative pairs whose reverse is an edge, or was there",
        left.measured, left.negatives);
  say(fmt::format("{}: {}", meta.name, line));
  meta.transforms.push_back(line);
}

void DatasetWriter::State::tell_two_sides() const {
  const std::optional<TwoSides> sides = two_sides(*edges, meta.vertices);
  if (!sides || sides->within == 0) return;
  warn(fmt::format(
      "{}: the graph is bipartite ({} + {} vertices); {:.0f} % of the negative pairs are within a side, where there is never "
      "an edge: metrics look better for that. Give pairs that cross in edge_split.npz (val_neg, test_neg); training draws "
      "its own among all vertices",
      meta.name, count_text(sides->first), count_text(sides->second),
      100 * double(sides->within) / double(sides->pairs)));
}

void DatasetWriter::State::write_edges(std::size_t first_arc) {
  std::vector<VertexId> source(1), destination(1);
  for (int s = 0; s < kPairSets; ++s) {
    const auto& pairs = edges->pairs[std::size_t(s)];
    meta.pairs.of[std::size_t(s)] = Index(pairs.size());
    NpyWriter file(folder.path() / pairs_file(PairSet(s)), Dtype::kInt32, {2});
    for (const VertexPair& pair : pairs) file.append(std::span<const VertexId>(pair));
    file.finish();
  }
  for (const VertexPair& edge : std::span(edges->of(PairSet::kTrain)).subspan(first_arc)) {
    source[0] = edge[0], destination[0] = edge[1];
    arcs.add(source, destination, {});
  }
}

void DatasetWriter::State::make_features() {
  if (!options.made_features) return;
  if (features) fail("{}: --features: there are features already; leave it out", meta.name);
  const Index columns = options.made_features->columns(meta.vertices);
  meta.features = columns;
  features.emplace(folder.path(), FeatureOptions{columns, FeatureScaling::kNone, options.float16});
  add_made_features(*options.made_features, meta.vertices, *features);
  meta.transforms.push_back("features: " + options.made_features->description());
}

namespace {

constexpr VertexId kAlone = -1;  // no edge yet

/// Sets of connected vertices. Each has a root, which is its smallest vertex (Tarjan 1975), and each vertex
/// knows whether it is on its root's side.
class Sides {
 public:
  explicit Sides(Index vertices)
      : parent_(std::size_t(vertices), kAlone), across_(std::size_t(vertices), std::uint8_t(0)) {}

  /// False if the edge joins vertices of one side.
  bool join(const VertexPair& edge) {
    for (const VertexId v : edge)
      if (is_alone(v)) parent_[std::size_t(v)] = v;
    const VertexId a = root_of(edge[0]), b = root_of(edge[1]);
    const std::uint8_t side_a = across_[std::size_t(edge[0])], side_b = across_[std::size_t(edge[1])];
    if (a == b) return side_a != side_b;
    const auto [low, high] = std::minmax(a, b);
    parent_[std::size_t(high)] = low;
    across_[std::size_t(high)] = std::uint8_t(side_a ^ side_b ^ 1);
    return true;
  }
  bool is_alone(VertexId v) const { return parent_[std::size_t(v)] == kAlone; }
  /// The root's side is 0.
  int side_of(VertexId v) {
    root_of(v);
    return across_[std::size_t(v)];
  }

 private:
  /// Makes the root the parent of v and of all vertices on the way to it.
  VertexId root_of(VertexId v) {
    VertexId root = v;
    std::uint8_t across = 0;  // from v to the root
    while (parent_[std::size_t(root)] != root) {
      across ^= across_[std::size_t(root)];
      root = parent_[std::size_t(root)];
    }
    while (parent_[std::size_t(v)] != root && v != root) {
      const VertexId next = parent_[std::size_t(v)];
      const std::uint8_t step = across_[std::size_t(v)];
      parent_[std::size_t(v)] = root;
      across_[std::size_t(v)] = across;
      across ^= step;
      v = next;
    }
    return root;
  }

  std::vector<VertexId> parent_;
  std::vector<std::uint8_t> across_;  // 1: on the other side than its parent
};

}  // namespace

std::optional<TwoSides> two_sides(const EdgeSplit& split, Index vertices) {
  Sides sides(vertices);
  Index edges = 0;
  for (const PairSet set : {PairSet::kTrain, PairSet::kValidation, PairSet::kTest})
    for (const VertexPair& edge : split.of(set)) {
      if (!sides.join(edge)) return {};
      ++edges;
    }
  TwoSides found;
  for (VertexId v = 0; v < vertices; ++v)
    if (!sides.is_alone(v)) ++(sides.side_of(v) == 0 ? found.first : found.second);
  if (edges < found.first + found.second) return {};
  for (const PairSet set : {PairSet::kValidationNegative, PairSet::kTestNegative})
    for (const VertexPair& pair : split.of(set)) {
      const bool has_edges = !sides.is_alone(pair[0]) && !sides.is_alone(pair[1]);
      ++found.pairs;
      found.within += has_edges && sides.side_of(pair[0]) == sides.side_of(pair[1]);
    }
  return found;
}

}  // namespace atl
