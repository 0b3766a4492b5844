#include "dataset/splits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "dataset/generate/shuffle.h"

namespace atl {

std::string_view to_string(Split part) {
  constexpr std::string_view kNames[] = {"none", "train", "validation", "test"};
  return kNames[int(part)];
}

void SplitTable::mark(Index vertex, Index column, Split part, const std::string& source) {
  if (vertex < 0 || vertex >= vertices) {
    fail("{}: vertex {} is out of range; allowed are 0 … {}", source, vertex, vertices - 1);
  }
  std::uint8_t& value = values[std::size_t(vertex * columns + column)];
  if (value != 0 && value != std::uint8_t(part)) {
    fail("{}: vertex {} is in both {} and {} of split column {}; remove it from one of them", source, vertex,
         to_string(Split(value)), to_string(part), column);
  }
  value = std::uint8_t(part);
}

void SplitTable::mark_all(std::span<const std::uint8_t> mask, Split part, const std::string& source) {
  ATOLL_CHECK(Index(mask.size()) == vertices * columns, "{} of {} × {}", mask.size(), vertices, columns);
  for (Index i = 0; i < Index(mask.size()); ++i) {
    if (mask[std::size_t(i)] != 0) mark(i / columns, i % columns, part, source);
  }
}

Split DrawnSplit::part_of(std::int64_t id) const {
  const Draws draws(seed, Purpose::kGenerator, std::uint64_t(DrawStream::kSplit));
  const double u = draws.uniform_at(std::uint64_t(id), 0);
  if (u < train) return Split::kTrain;
  if (u < train + validation) return Split::kValidation;
  return u < train + validation + test ? Split::kTest : Split::kNone;
}

std::string DrawnSplit::description() const {
  return fmt::format("random:{:g}/{:g}/{:g}, seed {}", 100 * train, 100 * validation, 100 * test, seed);
}

namespace {

constexpr double kRounding = 1e-6;  // percentages with decimals may miss a sum of 100 by this much
/// Numbers whose sum is this near to 1 are shares of 1, not percentages: 0.33/0.33/0.33 adds up to 0.99.
constexpr double kSharesOfOne = 0.02;

}  // namespace

DrawnSplit parse_drawn_split(const std::string& text, std::uint64_t seed) {
  double train = 0, validation = 0, test = 0;
  char more = 0;
  const int read = std::sscanf(text.c_str(), "random:%lf/%lf/%lf%c", &train, &validation, &test, &more);
  const bool shares =
      train > 0 && validation >= 0 && test >= 0 && train + validation + test <= 100 + kRounding;
  if (read != 3 || !shares) {
    fail(
        "--split: '{}' is not allowed (use random:TRAIN/VALIDATION/TEST in percent of the labelled vertices, up to "
        "100 together: random:60/20/20)",
        text);
  }
  if (std::abs(train + validation + test - 1) < kSharesOfOne)
    fail(
        "--split: '{}' draws {:g} % of the labelled vertices: the numbers are percent, not shares of 1 (use "
        "random:{:g}/{:g}/{:g})",
        text, train + validation + test, 100 * train, 100 * validation, 100 * test);
  return {train / 100, validation / 100, test / 100, seed};
}

namespace {

/// A uniform number in [0, 1), the same for an edge and its reverse.
double uniform_of(const VertexPair& edge, std::uint64_t seed, DrawStream stream) {
  const Draws draws(seed, Purpose::kGenerator, std::uint64_t(stream));
  const auto [low, high] = std::minmax(edge[0], edge[1]);
  return draws.uniform_at(std::uint64_t(low), std::uint64_t(high));
}

/// `arcs` are sorted.
bool is_symmetric(const std::vector<VertexPair>& arcs) {
  return std::ranges::all_of(arcs, [&](const VertexPair& arc) {
    return std::ranges::binary_search(arcs, VertexPair{arc[1], arc[0]});
  });
}

bool is_edge(const std::vector<VertexPair>& edges, VertexPair pair, bool undirected) {
  if (undirected && pair[0] > pair[1]) std::swap(pair[0], pair[1]);
  return std::ranges::binary_search(edges, pair);
}

/// Different pairs without loops, in an open hash table that is half full at most: there may be millions.
class DrawnPairs {
 public:
  void make_room(std::size_t more) {
    room_ += more;
    const std::vector<std::uint64_t> before =
        std::exchange(cells_, std::vector<std::uint64_t>(std::bit_ceil(2 * room_ + 1), kFree));
    for (const std::uint64_t key : before)
      if (key != kFree) cell_of(key) = key;
  }
  /// False if the pair is there already. There must be room for it.
  bool add(const VertexPair& pair) {
    const std::uint64_t key = std::uint64_t(std::uint32_t(pair[0])) << 32 | std::uint32_t(pair[1]);
    return std::exchange(cell_of(key), key) != key;
  }

 private:
  static constexpr std::uint64_t kFree = 0;  // the loop of vertex 0

  std::uint64_t& cell_of(std::uint64_t key) {
    const std::size_t mask = cells_.size() - 1;
    std::size_t at = mix64(key) & mask;
    while (cells_[at] != kFree && cells_[at] != key) at = (at + 1) & mask;
    return cells_[at];
  }

  std::vector<std::uint64_t> cells_;
  std::size_t room_ = 0;
};

/// Draws pairs, of which none is an edge, a loop or drawn before. `edges` are sorted.
class NegativeDraws {
 public:
  NegativeDraws(const std::vector<VertexPair>& edges, Index vertices, bool undirected, std::uint64_t seed)
      : edges_(edges),
        vertices_(vertices),
        undirected_(undirected),
        draws_(seed, Purpose::kGenerator, std::uint64_t(DrawStream::kEdgeNegative)) {}

  std::vector<VertexPair> draw(std::size_t count) {
    std::vector<VertexPair> pairs;
    taken_.make_room(count);
    while (pairs.size() < count) {
      const VertexPair pair{end(0), end(1)};
      ++next_;
      if (pair[0] == pair[1] || is_edge(edges_, pair, undirected_)) continue;
      const VertexPair known = undirected_ && pair[0] > pair[1] ? VertexPair{pair[1], pair[0]} : pair;
      if (taken_.add(known)) pairs.push_back(pair);
    }
    return pairs;
  }

 private:
  VertexId end(std::uint64_t column) const {
    return std::min(VertexId(draws_.uniform_at(next_, column) * double(vertices_)), VertexId(vertices_ - 1));
  }

  const std::vector<VertexPair>& edges_;
  Index vertices_;
  bool undirected_;
  Draws draws_;
  std::uint64_t next_ = 0;
  DrawnPairs taken_;
};

}  // namespace

PairSet DrawnEdgeSplit::part_of(const VertexPair& edge) const {
  const double u = uniform_of(edge, seed, DrawStream::kEdgeSplit);
  if (u < train) return PairSet::kTrain;
  return u < train + validation ? PairSet::kValidation : PairSet::kTest;
}

std::string DrawnEdgeSplit::description() const {
  return fmt::format("random:{:g}/{:g}/{:g}, seed {}", 100 * train, 100 * validation, 100 * test, seed);
}

DrawnEdgeSplit parse_edge_split(const std::string& text, std::uint64_t seed) {
  double train = 0, validation = 0, test = 0;
  char more = 0;
  const int read = std::sscanf(text.c_str(), "random:%lf/%lf/%lf%c", &train, &validation, &test, &more);
  // sscanf reads nan too, for which each comparison is false.
  const bool shares = validation >= 0 && test >= 0 && std::abs(train + validation + test - 100) <= kRounding;
  if (read != 3 || !shares)
    fail(
        "--edge-split: '{}' is not allowed (use given, or random:TRAIN/VALIDATION/TEST in percent of the edges, 100 "
        "together: random:85/5/10)",
        text);
  if (train <= 0)
    fail("--edge-split: '{}' leaves no edge to train on; give TRAIN more than 0, as in random:85/5/10", text);
  if (test <= 0 && validation <= 0)
    fail(
        "--edge-split: '{}' holds out no edge, and nothing would be measured; give VALIDATION or TEST more than 0, as in "
        "random:85/5/10",
        text);
  return {train / 100, validation / 100, test / 100, seed};
}

DrawnEdges draw_edges(std::vector<VertexPair> arcs, Index vertices, bool undirected,
                      const DrawnEdgeSplit& drawn, const std::string& name) {
  std::erase_if(arcs, [](const VertexPair& arc) { return arc[0] == arc[1]; });
  std::ranges::sort(arcs);
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  DrawnEdges out;
  out.undirected = undirected || is_symmetric(arcs);
  if (out.undirected) {
    for (VertexPair& arc : arcs)
      if (arc[0] > arc[1]) std::swap(arc[0], arc[1]);
    std::ranges::sort(arcs);
    arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  }
  for (const VertexPair& edge : arcs) out.split.of(drawn.part_of(edge)).push_back(edge);
  if (arcs.empty()) fail("{}: --edge-split: there are no edges but self-loops to draw from", name);
  for (const auto& [set, share] :
       {std::pair(PairSet::kTrain, drawn.train), std::pair(PairSet::kValidation, drawn.validation),
        std::pair(PairSet::kTest, drawn.test)})
    if (share > 0 && out.split.of(set).empty())
      fail(
          "{}: --edge-split: none of {} edges is drawn as one of the {}; give a larger share, or another --seed",
          name, arcs.size(), to_string(set));
  const double pairs = double(vertices) * double(vertices - 1) / (out.undirected ? 2 : 1);
  const double free = pairs - double(arcs.size());
  const std::size_t wanted = out.split.of(PairSet::kValidation).size() + out.split.of(PairSet::kTest).size();
  if (double(wanted) > free / 2)
    fail(
        "{}: --edge-split: {} negative pairs are wanted, and {} pairs of vertices are no edges, which is less than twice "
        "as many; give smaller shares for validation and test",
        name, wanted, free);
  NegativeDraws negatives(arcs, vertices, out.undirected, drawn.seed);
  out.split.of(PairSet::kValidationNegative) = negatives.draw(out.split.of(PairSet::kValidation).size());
  out.split.of(PairSet::kTestNegative) = negatives.draw(out.split.of(PairSet::kTest).size());
  return out;
}

Index put_supervision_first(std::vector<VertexPair>& training, double share, std::uint64_t seed) {
  const auto messages = std::stable_partition(training.begin(), training.end(), [&](const VertexPair& edge) {
    return uniform_of(edge, seed, DrawStream::kSupervision) < share;
  });
  return messages - training.begin();
}

}  // namespace atl
