#include "dataset/generate/edges.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>
#include <vector>

#include "base/random.h"
#include "dataset/generate/shuffle.h"

namespace atl {
namespace {

/// Decides which of two vertices draws their edge, so that it can't be drawn from both ends. In any interval
/// around u, u draws the edges to about half of the other vertices.
bool owns(VertexId u, VertexId v) {
  return ((u ^ v) & 1) ? u > v : u < v;
}

}  // namespace

void for_vertices(VertexId begin, VertexId end, ThreadPool& threads, FunctionRef<void(VertexId, int)> work) {
  constexpr Index kChunk = 1024;
  threads.run((Index(end) - begin + kChunk - 1) / kChunk, [&](Index chunk, int thread) {
    const Index first = begin + chunk * kChunk, last = std::min<Index>(end, first + kChunk);
    for (Index v = first; v < last; ++v) work(VertexId(v), thread);
  });
}

/// The neighbours that one vertex has drawn, in an open hash table that is at most half full. The next vertex
/// reuses its memory.
class Edges::Met {
 public:
  void clear_for(std::size_t neighbours) {
    mask_ = std::bit_ceil(2 * neighbours + 2) - 1;
    slots_.assign(mask_ + 1, kNoVertex);
  }
  /// False if v is there already.
  bool insert(VertexId v) {
    std::size_t slot = mix32(std::uint32_t(v)) & mask_;
    while (slots_[slot] != kNoVertex && slots_[slot] != v) slot = (slot + 1) & mask_;
    return std::exchange(slots_[slot], v) == kNoVertex;
  }

 private:
  std::size_t mask_ = 0;
  std::vector<VertexId> slots_;
};

Edges::Edges(const CommunitySpec& spec, const Line& line, const ArcModel& model, const Shuffle& shuffle)
    : spec_(spec),
      line_(line),
      model_(model),
      shuffle_(shuffle),
      count_(Mass(double(spec.vertices) * spec.average_degree / 2 + 0.5)) {}

void Edges::draw(VertexId begin, VertexId end, ThreadPool& threads, std::span<VertexId> out) const {
  std::vector<Met> met(static_cast<std::size_t>(threads.threads()));
  const Index base = first(begin);
  for_vertices(begin, end, threads, [&](VertexId u, int thread) {
    const auto own = out.subspan(std::size_t(first(u) - base), std::size_t(first(u + 1) - first(u)));
    draw_vertex(u, own, met[std::size_t(thread)]);
    for (VertexId& v : own) v = v == kNoVertex ? kNoVertex : shuffle_(v);
  });
}

void Edges::draw_vertex(VertexId u, std::span<VertexId> out, Met& met) const {
  const std::uint64_t row = generator_stream(spec_, DrawStream::kArc).row_key(std::uint64_t(u));
  const std::uint64_t patience = 6 * out.size() + 64;  // tries before looking further away
  met.clear_for(out.size());
  std::size_t have = 0;
  for (std::uint64_t attempt = 0; have < out.size() && attempt < 4 * patience; ++attempt) {
    const VertexId v = model_.draw(u, mix64(row + attempt * 0x9e3779b97f4a7c15ull), attempt >= patience);
    if (v != kNoVertex && v != u && owns(u, v) && met.insert(v)) out[have++] = v;
  }
  std::fill(out.begin() + std::ptrdiff_t(have), out.end(), kNoVertex);
}

/// Samples the vertices that draw evenly spaced edges. So a vertex is taken in proportion to the edges that
/// it draws.
double Edges::same_group_share() const {
  constexpr Mass kSamples = 2048;
  Met met;
  std::vector<VertexId> own;
  double sum = 0;
  for (Mass i = 0; i < kSamples; ++i) {
    const VertexId u = line_.at(Mass(Product(line_.length()) * (2 * i + 1) / (2 * kSamples)));
    own.resize(std::size_t(std::max<Index>(1, first(u + 1) - first(u))));
    draw_vertex(u, own, met);
    Index same = 0, drawn = 0;
    for (VertexId v : own) {
      if (v == kNoVertex) continue;
      ++drawn;
      same += line_.group(line_.community(u)) == line_.group(line_.community(v));
    }
    sum += drawn == 0 ? 1.0 : double(same) / double(drawn);
  }
  return sum / double(kSamples);
}

/// Octaves go from the longest down. Each octave behind those of long_shares has octave_growth times the
/// share of the octave before, until far_share of the arcs leave or an octave is no longer than a community.
ArcModel::ArcModel(const CommunitySpec& spec, const Line& line)
    : line_(line), district_(line.length() / Mass(spec.districts) + 1) {
  const double budget = spec.far_share > 0 ? spec.far_share : (1 - spec.homophily) / 2;
  const Mass community = line.length() / Mass(line.communities());
  double sum = 0, share = 0;
  for (int octave = 1; sum < budget && (line.length() >> octave) > community / 2; ++octave) {
    const auto given = std::size_t(octave) <= spec.long_shares.size();
    share = given ? spec.long_shares[std::size_t(octave) - 1] : share * spec.octave_growth;
    sum = std::min(budget, sum + share);
    until_.push_back(std::uint64_t(sum * 0x1p32));
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

/// Draws a distance in the octave and goes left or right by it, wherever that leads to a place on the line.
/// If the octave's distances are at most as long as a district, the place must be in u's district. Returns
/// kNoVertex if neither side has such a place.
VertexId ArcModel::draw_far(VertexId u, std::uint64_t choice, std::uint64_t bits) const {
  const auto octave = std::upper_bound(until_.begin(), until_.end(), choice) - until_.begin();
  const Mass shortest = line_.length() >> (octave + 1);
  const Mass distance = shortest + below(bits, shortest);
  const Mass here = line_.start(u) + line_.mass(u) / 2;
  const bool stays = 2 * shortest <= district_;
  const Mass begin = stays ? here / district_ * district_ : 0;
  const Mass end = stays ? std::min(begin + district_, line_.length()) : line_.length();
  const bool left_fits = here >= begin + distance, right_fits = here + distance < end;
  if (!left_fits && !right_fits) return kNoVertex;
  const bool left = left_fits && (!right_fits || (bits & 1));
  return line_.at(left ? here - distance : here + distance);
}

// Makes compressed rows with both directions of every drawn edge, by counting sort. Threads fill a row in any
// order, and the row is then sorted, so the result is always the same.

namespace {

struct GeneratedEdges {
  const Edges& edges;
  const Line& line;
  const Shuffle& shuffle;
  ThreadPool& threads;
  std::vector<VertexId> ends;  // (edges.count())

  /// Calls visit(u, v), with final ids, for each edge that was found.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for_vertices(0, VertexId(line.vertices()), threads, [&](VertexId u, int) {
      const VertexId id = shuffle(u);
      for (Index e = edges.first(u), last = edges.first(u + 1); e < last; ++e) {
        if (ends[std::size_t(e)] != kNoVertex) visit(id, ends[std::size_t(e)]);
      }
    });
  }
};

/// offsets[row] becomes the row's end, which put() will count down to its start.
void count_rows(const GeneratedEdges& drawn, std::vector<Index>& offsets) {
  auto count = [&](VertexId row) {
    std::atomic_ref(offsets[std::size_t(row)]).fetch_add(1, std::memory_order_relaxed);
  };
  drawn.for_each([&](VertexId u, VertexId v) { count(u), count(v); });
  for (std::size_t row = 1; row < offsets.size(); ++row) offsets[row] += offsets[row - 1];
}

}  // namespace

Csr symmetric_csr(const Edges& edges, const Line& line, const Shuffle& shuffle, ThreadPool& threads) {
  const auto n = VertexId(line.vertices());
  GeneratedEdges drawn{edges, line, shuffle, threads, std::vector<VertexId>(std::size_t(edges.count()))};
  edges.draw(0, n, threads, drawn.ends);
  Csr csr;
  csr.rows = csr.cols = n;
  csr.offsets.assign(std::size_t(n) + 1, 0);
  count_rows(drawn, csr.offsets);
  csr.columns.resize(std::size_t(csr.offsets.back()));
  auto put = [&](VertexId row, VertexId column) {
    const Index at =
        std::atomic_ref(csr.offsets[std::size_t(row)]).fetch_sub(1, std::memory_order_relaxed) - 1;
    csr.columns[std::size_t(at)] = column;
  };
  drawn.for_each([&](VertexId u, VertexId v) { put(u, v), put(v, u); });
  for_vertices(0, n, threads, [&](VertexId row, int) {
    const auto begin = csr.columns.begin();
    std::sort(begin + csr.offsets[std::size_t(row)], begin + csr.offsets[std::size_t(row) + 1]);
  });
  return csr;
}

}  // namespace atl
