#include "dataset/generate/generate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "dataset/generate/edges.h"
#include "dataset/generate/line.h"
#include "dataset/generate/shuffle.h"

namespace atl {
namespace {

// The properties of a generated graph's vertices: label or labels, features, split.

/// Labels are drawn for places on the line; everything else is keyed by `id`, the vertex's final id.
class LabelModel {
 public:
  /// `same_group` is the share of arcs between communities of one group. It determines how many vertices must
  /// take their community's label to reach the homophily asked for. Throws Error if no share reaches it.
  LabelModel(const CommunitySpec& spec, const Line& line, double same_group);

  /// Returns the vertex's group: usually its community's, otherwise one drawn in proportion to the groups'
  /// shares.
  int group(VertexId id, int community_group) const;
  void targets(VertexId id, int group, std::span<std::uint8_t> out) const;
  void features(VertexId id, int group, std::span<float> out) const;
  Split split(VertexId id) const;

 private:
  void draw_topics();
  void add_mean(int label, float scale, std::span<float> out) const;
  void add_noise(VertexId id, std::span<float> out) const;

  CommunitySpec spec_;
  double faithful_ = 1;              // share of vertices that take their community's group
  std::vector<double> until_;        // (groups) cumulated shares of the line
  std::vector<float> label_chance_;  // (topics, classes) multi-label only
};

constexpr double kTopicLabels = 8;     // approximate number of labels that a topic makes likely
constexpr double kTopicChance = 0.7;   // probability of each of them
constexpr double kStrayChance = 0.03;  // probability of any other label

/// The share of vertices that must take their community's label. Two such vertices have the same label if
/// their communities have the same label. Any other pair has the same label with probability `chance`, with
/// which two draws from the classes, by the classes' shares, agree.
double faithful_share(const CommunitySpec& spec, double same_group, double chance) {
  const double reach = same_group - chance, wanted = spec.homophily - chance;
  if (wanted < -0.01 || wanted > reach + 0.01) {
    fail(
        "homophily {}: with {} classes and this share of far arcs only {:.2f} … {:.2f} is possible; use a "
        "value in this range, or fewer far arcs",
        spec.homophily, spec.classes, chance, same_group);
  }
  return reach <= 0 ? 1.0 : std::sqrt(std::clamp(wanted / reach, 0.0, 1.0));
}

LabelModel::LabelModel(const CommunitySpec& spec, const Line& line, double same_group) : spec_(spec) {
  double sum = 0, chance = 0;
  for (double share : line.group_share()) {
    until_.push_back(sum += share);
    chance += share * share;
  }
  faithful_ = faithful_share(spec, same_group, chance);
  if (spec.multi_label) draw_topics();
}

int LabelModel::group(VertexId id, int community_group) const {
  const Draws draws = generator_stream(spec_, DrawStream::kLabel);
  if (draws.uniform_at(std::uint64_t(id), 0) < faithful_) return community_group;
  const double u = draws.uniform_at(std::uint64_t(id), 1);
  return int(std::min<std::ptrdiff_t>(std::upper_bound(until_.begin(), until_.end(), u) - until_.begin(),
                                      std::ptrdiff_t(until_.size()) - 1));
}

/// Labels that share a topic occur together. The higher a label's number, the fewer topics it has, so some
/// labels are common and some are rare.
void LabelModel::draw_topics() {
  const Draws draws = generator_stream(spec_, DrawStream::kTopicLabels);
  const auto classes = std::size_t(spec_.classes);
  double popularity = 0;
  for (std::size_t c = 0; c < classes; ++c) popularity += 1 / std::sqrt(double(c + 1));
  label_chance_.resize(until_.size() * classes);
  for (std::size_t topic = 0; topic < until_.size(); ++topic) {
    for (std::size_t c = 0; c < classes; ++c) {
      const double share = kTopicLabels / popularity / std::sqrt(double(c + 1));
      const bool of_topic = c == topic % classes || draws.uniform_at(topic, c) < share;
      label_chance_[topic * classes + c] = float(of_topic ? kTopicChance : kStrayChance);
    }
  }
}

void LabelModel::targets(VertexId id, int group, std::span<std::uint8_t> out) const {
  const std::uint64_t row = generator_stream(spec_, DrawStream::kTarget).row_key(std::uint64_t(id));
  const float* chance = label_chance_.data() + std::size_t(group) * std::size_t(spec_.classes);
  for (std::size_t c = 0; c < out.size(); ++c) {
    out[c] = double(Draws::bits(row, std::uint32_t(c))) < double(chance[c]) * 0x1p32;
  }
}

/// Adds a label's mean, a vector of ±scale with signs drawn by label and column.
void LabelModel::add_mean(int label, float scale, std::span<float> out) const {
  const std::uint64_t row = generator_stream(spec_, DrawStream::kMean).row_key(std::uint64_t(label));
  for (std::size_t f = 0; f < out.size(); ++f) {
    out[f] += (Draws::bits(row, std::uint32_t(f)) & 1) ? scale : -scale;
  }
}

/// Adds the sum of the four bytes of a draw, centred and scaled: a bell of deviation 1 between ±3.45, in
/// whole numbers until the last step.
void LabelModel::add_noise(VertexId id, std::span<float> out) const {
  constexpr float kScale = 1 / 147.8005f;  // deviation of the sum of four uniform bytes
  const std::uint64_t row = generator_stream(spec_, DrawStream::kNoise).row_key(std::uint64_t(id));
  for (std::size_t f = 0; f < out.size(); ++f) {
    const std::uint32_t bits = Draws::bits(row, std::uint32_t(f));
    const std::uint32_t pairs = (bits & 0x00ff00ffu) + ((bits >> 8) & 0x00ff00ffu);
    out[f] += float(std::int32_t((pairs & 0xffffu) + (pairs >> 16)) - 510) * kScale;
  }
}

void LabelModel::features(VertexId id, int group, std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0f);
  const float scale = float(spec_.signal / std::sqrt(double(std::max<std::size_t>(out.size(), 1))));
  if (!spec_.multi_label) {
    add_mean(group, scale, out);
  } else {
    std::vector<std::uint8_t> labels(std::size_t(spec_.classes));
    targets(id, group, labels);
    for (std::size_t c = 0; c < labels.size(); ++c) {
      if (labels[c]) add_mean(int(c), scale, out);
    }
  }
  add_noise(id, out);
}

Split LabelModel::split(VertexId id) const {
  const double u = generator_stream(spec_, DrawStream::kSplit).uniform_at(std::uint64_t(id), 0);
  if (u < spec_.train) return Split::kTrain;
  return u < spec_.train + spec_.validation ? Split::kValidation : Split::kTest;
}

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
        shuffle(spec.vertices, generator_stream(spec, DrawStream::kShuffle)),
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
