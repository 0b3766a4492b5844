#include "dataset/generate/generate.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "dataset/generate/arcs.h"
#include "dataset/generate/edges.h"
#include "dataset/generate/labels.h"
#include "dataset/generate/line.h"
#include "dataset/generate/shuffle.h"
#include "dataset/generate/streams.h"

namespace atl {
namespace {

void check_range(const char* field, double value, double least, double most) {
  if (!(value >= least && value <= most)) {
    fail("synthetic graph: {} {}: must be between {} and {}", field, value, least, most);
  }
}

}  // namespace

void check(const CommunitySpec& spec) {
  constexpr Index kMostVertices = std::numeric_limits<VertexId>::max() / 2;
  const Index most_classes = spec.vertices / 8;
  check_range("vertices", double(spec.vertices), 16, double(kMostVertices));
  check_range("averageDegree", spec.average_degree, 1, double(spec.vertices) / 4);
  check_range("features", double(spec.features), 1, 1 << 20);
  check_range("classes", double(spec.classes), 2, double(most_classes));
  check_range("homophily", spec.homophily, 0, 0.99);
  check_range("tailExponent", spec.tail_exponent, 1.1, 4);
  for (const double share : spec.long_shares) check_range("longShares", share, 1e-6, 1);
  check_range("districts", double(spec.districts), 1, 1024);
  check_range("octaveGrowth", spec.octave_growth, 0.5, 16);
  check_range("farShare", spec.far_share, 0, 1);
  check_range("classSkew", spec.class_skew, 0, 4);
  check_range("signal", spec.signal, 0, 1000);
  check_range("train + validation", spec.train + spec.validation, 0, 1);
}

struct CommunityGraph::State {
  CommunitySpec spec;
  Line line;
  ArcModel model;
  Shuffle shuffle;
  Edges edges;
  LabelModel labels;

  explicit State(const CommunitySpec& given)
      : spec(given),
        line(spec),
        model(spec, line),
        shuffle(spec.vertices, generator_stream(spec, Stream::kShuffle)),
        edges(spec, line, model, shuffle),
        labels(spec, line, edges.same_group_share()) {}
};

CommunityGraph::CommunityGraph(const CommunitySpec& spec) {
  check(spec);
  state_ = std::make_unique<const State>(spec);
}
CommunityGraph::CommunityGraph(CommunityGraph&&) noexcept = default;
CommunityGraph::~CommunityGraph() = default;

const CommunitySpec& CommunityGraph::spec() const {
  return state_->spec;
}

int CommunityGraph::community(VertexId vertex) const {
  return state_->line.community(state_->shuffle.inverse(vertex));
}

Csr CommunityGraph::arcs(ThreadPool& threads) const {
  return symmetric_csr(state_->edges, state_->line, state_->shuffle, threads);
}

void CommunityGraph::edges(
    ThreadPool& threads,
    FunctionRef<void(std::span<const VertexId> from, std::span<const VertexId> to)> take) const {
  constexpr Index kBlock = 1 << 16;  // vertices
  const Edges& edges = state_->edges;
  std::vector<VertexId> from, to;
  for (Index begin = 0, n = state_->spec.vertices; begin < n; begin += kBlock) {
    const auto first = VertexId(begin), last = VertexId(std::min(n, begin + kBlock));
    to.resize(std::size_t(edges.first(last) - edges.first(first)));
    from.resize(to.size());
    edges.draw(first, last, threads, to);
    std::size_t kept = 0;
    for (VertexId u = first; u < last; ++u) {
      const VertexId id = state_->shuffle(u);
      for (Index e = edges.first(u) - edges.first(first); e < edges.first(u + 1) - edges.first(first); ++e) {
        if (to[std::size_t(e)] == kNoVertex) continue;
        from[kept] = id;
        to[kept++] = to[std::size_t(e)];
      }
    }
    take({from.data(), kept}, {to.data(), kept});
  }
}

int CommunityGraph::label(VertexId vertex) const {
  return state_->labels.group(vertex, state_->line.group(community(vertex)));
}

void CommunityGraph::targets(VertexId vertex, std::span<std::uint8_t> out) const {
  ATOLL_CHECK(state_->spec.multi_label, "a single-label graph has no targets");
  state_->labels.targets(vertex, label(vertex), out);
}

void CommunityGraph::features(VertexId vertex, std::span<float> out) const {
  state_->labels.features(vertex, label(vertex), out);
}

Split CommunityGraph::split(VertexId vertex) const {
  return state_->labels.split(vertex);
}

}  // namespace atl
