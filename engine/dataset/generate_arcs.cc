#include "dataset/generate_arcs.h"

#include <algorithm>
#include <atomic>

#include "base/random.h"
#include "dataset/generate_streams.h"

namespace atl {
namespace {

constexpr VertexId kNone = -1;
constexpr Index kChunk = 1024;  // vertices that a thread takes at a time

/// Of two vertices one draws their edge, so that it can't be drawn from both ends: in any interval around u
/// about half of the others are u's to draw.
bool owns(VertexId u, VertexId v) {
  return ((u ^ v) & 1) ? u > v : u < v;
}

/// Edges 0 … wanted − 1 are dealt out along the line by mass.
class Deal {
 public:
  Deal(const CommunitySpec& spec, const Line& line)
      : line_(line), edges_(Mass(double(spec.vertices) * spec.average_degree / 2 + 0.5)) {}

  Index total() const { return Index(edges_); }
  Index first(VertexId u) const { return Index(Product(edges_) * line_.start(u) / line_.length()); }

 private:
  const Line& line_;
  Mass edges_;
};

/// Fills `out` with distinct neighbours (shuffled ids) for u to own; kNone where none could be found, which
/// takes a vertex that has met almost everybody in reach.
void draw_neighbours(VertexId u, std::span<VertexId> out, const ArcModel& model, const Shuffle& shuffle,
                     const Draws& draws) {
  const std::size_t wanted = out.size();
  const std::uint64_t row = draws.row_key(std::uint64_t(u));
  const std::uint64_t patience = 24 * wanted + 64;  // tries before looking further away
  std::size_t have = 0;
  for (std::uint64_t attempt = 0; have < wanted && attempt < 4 * patience;) {
    for (; have < wanted && attempt < 4 * patience; ++attempt) {
      const VertexId v = model.draw(u, mix64(row + attempt * 0x9e3779b97f4a7c15ull), attempt >= patience);
      if (v != kNone && v != u && owns(u, v)) out[have++] = shuffle(v);
    }
    std::sort(out.begin(), out.begin() + std::ptrdiff_t(have));
    have = std::size_t(std::unique(out.begin(), out.begin() + std::ptrdiff_t(have)) - out.begin());
  }
  std::fill(out.begin() + std::ptrdiff_t(have), out.end(), kNone);
}

void for_vertices(Index n, ThreadPool& threads, FunctionRef<void(VertexId)> work) {
  threads.run((n + kChunk - 1) / kChunk, [&](Index chunk, int) {
    const Index end = std::min(n, (chunk + 1) * kChunk);
    for (Index v = chunk * kChunk; v < end; ++v) work(VertexId(v));
  });
}

/// Calls visit(u, v), both shuffled, for each edge that was found.
template <class Visit>
void for_edges(const Line& line, const Deal& deal, const std::vector<VertexId>& owned, const Shuffle& shuffle,
               ThreadPool& threads, const Visit& visit) {
  for_vertices(line.vertices(), threads, [&](VertexId u) {
    const VertexId id = shuffle(u);
    for (Index e = deal.first(u); e < deal.first(u + 1); ++e) {
      if (owned[std::size_t(e)] != kNone) visit(id, owned[std::size_t(e)]);
    }
  });
}

/// Counting sort of both directions of every edge. Threads fill a row in any order; sorting it forgets which.
Csr symmetrise(const Line& line, const Deal& deal, const std::vector<VertexId>& owned, const Shuffle& shuffle,
               ThreadPool& threads) {
  Csr csr;
  csr.rows = csr.cols = line.vertices();
  csr.offsets.assign(std::size_t(csr.rows) + 1, 0);
  auto count = [&](VertexId row) {
    return std::atomic_ref(csr.offsets[std::size_t(row)]).fetch_add(1, std::memory_order_relaxed);
  };
  for_edges(line, deal, owned, shuffle, threads, [&](VertexId u, VertexId v) { count(u), count(v); });
  for (std::size_t row = 1; row < csr.offsets.size(); ++row) csr.offsets[row] += csr.offsets[row - 1];
  csr.columns.resize(std::size_t(csr.offsets.back()));
  // offsets[row] is the row's end now and counts down to its start.
  auto put = [&](VertexId row, VertexId column) {
    const Index at =
        std::atomic_ref(csr.offsets[std::size_t(row)]).fetch_sub(1, std::memory_order_relaxed) - 1;
    csr.columns[std::size_t(at)] = column;
  };
  for_edges(line, deal, owned, shuffle, threads, [&](VertexId u, VertexId v) { put(u, v), put(v, u); });
  for_vertices(csr.rows, threads, [&](VertexId row) {
    std::sort(csr.columns.begin() + csr.offsets[std::size_t(row)],
              csr.columns.begin() + csr.offsets[std::size_t(row) + 1]);
  });
  return csr;
}

}  // namespace

/// Octaves from the longest down, each octave_growth times the share of the one before, until far_share of
/// the arcs leave or an octave is no longer than a community.
ArcModel::ArcModel(const CommunitySpec& spec, const Line& line) : line_(line) {
  const double budget = spec.far_share > 0 ? spec.far_share : (1 - spec.homophily) / 2;
  const Mass community = line.length() / Mass(line.communities());
  double sum = 0, share = spec.long_share;
  for (int octave = 1; sum < budget && (line.length() >> octave) > community / 2; ++octave) {
    sum = std::min(budget, sum + share);
    until_.push_back(std::uint64_t(sum * 0x1p32));
    share *= spec.octave_growth;
  }
}

VertexId ArcModel::draw(VertexId u, std::uint64_t bits, bool far) const {
  const std::uint64_t more = mix64(bits);
  std::uint64_t choice = bits >> 32;
  if (far && !until_.empty()) choice = below(bits, until_.back());
  if (!until_.empty() && choice < until_.back()) return draw_far(u, choice, more);
  const int community = line_.community(u);
  const Mass start = line_.start(line_.first(community)), end = line_.start(line_.first(community + 1));
  return line_.at(start + below(more, end - start));
}

/// Away by the distance; the other way where the line ends before.
VertexId ArcModel::draw_far(VertexId u, std::uint64_t choice, std::uint64_t bits) const {
  const auto octave = std::upper_bound(until_.begin(), until_.end(), choice) - until_.begin();
  const Mass shortest = line_.length() >> (octave + 1);
  const Mass distance = shortest + below(bits, shortest);
  const Mass here = line_.start(u) + line_.mass(u) / 2;
  const bool left_fits = here >= distance, right_fits = here + distance < line_.length();
  if (!left_fits && !right_fits) return kNone;
  const bool left = left_fits && (!right_fits || (bits & 1));
  return line_.at(left ? here - distance : here + distance);
}

double same_group_share(const CommunitySpec& spec, const Line& line, const ArcModel& model,
                        const Shuffle& shuffle) {
  constexpr Index kSamples = 2048;
  const Deal deal(spec, line);
  const Draws draws = generator_stream(spec, Stream::kArc);
  std::vector<VertexId> owned;
  Index same = 0, drawn = 0;
  for (Index i = 0, n = line.vertices(); i < std::min(n, kSamples); ++i) {
    const auto u = VertexId(n <= kSamples ? i : i * n / kSamples);
    owned.resize(std::size_t(deal.first(u + 1) - deal.first(u)));
    draw_neighbours(u, owned, model, shuffle, draws);
    for (VertexId v : owned) {
      if (v == kNone) continue;
      ++drawn;
      same += line.group(line.community(u)) == line.group(line.community(shuffle.inverse(v)));
    }
  }
  return drawn == 0 ? 1.0 : double(same) / double(drawn);
}

Csr draw_graph(const CommunitySpec& spec, const Line& line, const ArcModel& model, const Shuffle& shuffle,
               ThreadPool& threads) {
  const Deal deal(spec, line);
  const Draws draws = generator_stream(spec, Stream::kArc);
  std::vector<VertexId> owned(std::size_t(deal.total()));
  for_vertices(line.vertices(), threads, [&](VertexId u) {
    const Index first = deal.first(u);
    draw_neighbours(u, {owned.data() + first, std::size_t(deal.first(u + 1) - first)}, model, shuffle, draws);
  });
  return symmetrise(line, deal, owned, shuffle, threads);
}

}  // namespace atl
