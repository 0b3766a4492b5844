#include "dataset/generate/edges.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "base/random.h"
#include "dataset/generate/streams.h"

namespace atl {
namespace {

/// Of two vertices one draws their edge, so that it can't be drawn from both ends: in any interval around u
/// about half of the others are u's to draw.
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

/// The neighbours that one vertex has drawn: open addressing, at most half full, kept for the next vertex.
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
  const std::uint64_t row = generator_stream(spec_, Stream::kArc).row_key(std::uint64_t(u));
  const std::uint64_t patience = 6 * out.size() + 64;  // tries before looking further away
  met.clear_for(out.size());
  std::size_t have = 0;
  for (std::uint64_t attempt = 0; have < out.size() && attempt < 4 * patience; ++attempt) {
    const VertexId v = model_.draw(u, mix64(row + attempt * 0x9e3779b97f4a7c15ull), attempt >= patience);
    if (v != kNoVertex && v != u && owns(u, v) && met.insert(v)) out[have++] = v;
  }
  std::fill(out.begin() + std::ptrdiff_t(have), out.end(), kNoVertex);
}

/// The vertices that draw evenly spaced edges: a vertex is taken as often as it has edges.
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

}  // namespace atl
