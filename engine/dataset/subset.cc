#include "dataset/subset.h"

#include <algorithm>
#include <queue>

#include "base/random.h"
#include "dataset/writer.h"

namespace atl {
namespace {

constexpr Index kFollowed = 16;      // neighbours followed per vertex
constexpr Index kCopiedRows = 1024;  // rows of features at a time

/// Takes vertices in the order in which they are reached.
class Walk {
 public:
  Walk(const CsrView& graph, Index count, std::uint64_t seed)
      : graph_(graph), count_(count), draws_(seed, Purpose::kSampling), seen_(std::size_t(graph.rows)) {}

  bool is_full() const { return Index(taken_.size()) == count_; }
  void from(VertexId start) {
    take(start);
    while (!waiting_.empty() && !is_full()) {
      follow(waiting_.front());
      waiting_.pop();
    }
  }
  std::vector<VertexId> taken() {
    std::ranges::sort(taken_);
    return std::move(taken_);
  }

 private:
  void take(VertexId v) {
    if (is_full() || seen_[std::size_t(v)] != 0) return;
    seen_[std::size_t(v)] = 1;
    taken_.push_back(v);
    waiting_.push(v);
  }
  void follow(VertexId v) {
    const std::span<const VertexId> all = graph_.row(v);
    if (Index(all.size()) <= kFollowed) {
      for (const VertexId each : all) take(each);
      return;
    }
    for (Index i = 0; i < kFollowed; ++i)
      take(all[std::size_t(draws_.bits64_at(std::uint64_t(v), std::uint64_t(i)) % all.size())]);
  }

  const CsrView& graph_;
  Index count_;
  Draws draws_;
  std::vector<std::uint8_t> seen_;
  std::vector<VertexId> taken_;
  std::queue<VertexId> waiting_;
};

void add_arcs(const CsrView& graph, std::span<const VertexId> vertices, DatasetWriter& writer) {
  const auto number_of = [&](VertexId v) {
    const auto at = std::ranges::lower_bound(vertices, v);
    return at != vertices.end() && *at == v ? VertexId(at - vertices.begin()) : VertexId(-1);
  };
  std::vector<VertexId> sources, destinations;
  std::vector<float> weights;
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    sources.clear(), destinations.clear(), weights.clear();
    const std::span<const VertexId> row = graph.row(vertices[i]);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const VertexId source = number_of(row[k]);
      if (source < 0) continue;
      sources.push_back(source), destinations.push_back(VertexId(i));
      if (graph.weights) weights.push_back(graph.weights[graph.offsets[vertices[i]] + Index(k)]);
    }
    writer.add_arcs(sources, destinations, weights, {"arcs"});
  }
}

void add_features(const Dataset& dataset, std::span<const VertexId> vertices, DatasetWriter& writer) {
  const Index columns = dataset.meta().features;
  if (columns == 0) return;
  writer.begin_features(columns);
  for (Index begin = 0; begin < Index(vertices.size()); begin += kCopiedRows) {
    const auto ids = vertices.subspan(std::size_t(begin),
                                      std::size_t(std::min(kCopiedRows, Index(vertices.size()) - begin)));
    if (dataset.meta().feature_form == FeatureForm::kSparse) {
      writer.add_sparse_features(dataset.read_sparse_features(ids).view(), {"features", begin});
      continue;
    }
    Matrix rows(Index(ids.size()), columns);
    dataset.read_features(ids, rows);
    const std::vector<float> values(rows.data(), rows.data() + rows.rows() * columns);
    writer.add_features({values.data(), rows.rows(), columns}, {"features", begin});
  }
}

/// Returns the rows of these vertices (vertices, columns).
std::vector<std::uint8_t> rows_of(const View<const std::uint8_t>& all, std::span<const VertexId> vertices) {
  std::vector<std::uint8_t> rows;
  for (const VertexId v : vertices)
    for (Index c = 0; c < all.cols; ++c) rows.push_back(all.at(v, c));
  return rows;
}

void add_labels(const Dataset& dataset, std::span<const VertexId> vertices, DatasetWriter& writer) {
  const DatasetMeta& meta = dataset.meta();
  if (meta.multi_label) {
    const std::vector<std::uint8_t> rows = rows_of(dataset.targets(), vertices);
    writer.set_targets({rows.data(), Index(vertices.size()), meta.classes}, {"targets"});
  } else if (meta.classes > 0) {
    std::vector<std::int32_t> labels;
    for (const VertexId v : vertices) labels.push_back(dataset.labels()[std::size_t(v)]);
    writer.set_labels(labels, meta.classes, {"labels"}, meta.class_names);
  }
}

/// Copies column `column` to all columns of the new split, so that a job finds it under any number.
void add_split(const Dataset& dataset, std::span<const VertexId> vertices, const std::string& name,
               int column, DatasetWriter& writer) {
  const View<const std::uint8_t> all = dataset.split(name);
  std::vector<std::uint8_t> rows;
  for (const VertexId v : vertices) rows.insert(rows.end(), std::size_t(all.cols), all.at(v, column));
  writer.add_split(name, {rows.data(), Index(vertices.size()), all.cols}, "split");
}

}  // namespace

std::vector<VertexId> drawn_neighbourhood(const CsrView& graph, const std::vector<std::uint8_t>& marks,
                                          Index count, std::uint64_t seed) {
  Walk walk(graph, std::min(count, graph.rows), seed);
  const Draws draws(seed, Purpose::kBatch);
  for (std::uint64_t i = 0; i < std::uint64_t(graph.rows) && !walk.is_full(); ++i) {
    const auto start = VertexId(draws.bits64_at(0, i) % std::uint64_t(graph.rows));
    if (marks[std::size_t(start)] != 0) walk.from(start);
  }
  for (VertexId v = 0; v < graph.rows && !walk.is_full(); ++v) walk.from(v);
  return walk.taken();
}

void write_subset(const Dataset& dataset, std::span<const VertexId> vertices, const std::string& split,
                  int column, const std::filesystem::path& place) {
  WriterOptions options;
  options.name = dataset.meta().name;
  options.weighted = dataset.meta().weighted;
  DatasetWriter writer(place, options);
  writer.set_vertices(Index(vertices.size()));
  add_arcs(dataset.graph(), vertices, writer);
  add_features(dataset, vertices, writer);
  add_labels(dataset, vertices, writer);
  add_split(dataset, vertices, split, column, writer);
  writer.finish();
}

}  // namespace atl
