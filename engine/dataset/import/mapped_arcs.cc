#include "dataset/import/mapped_arcs.h"

#include <algorithm>
#include <vector>

namespace atl {
namespace {

constexpr Index kPiece = 1 << 16;

/// Replays the arcs with their new ids.
void add_arcs(const ScratchFile& file, const IdMap& ids, Index arcs, const std::string& source,
              DatasetWriter& writer) {
  std::vector<IdArc> piece(kPiece);
  std::vector<VertexId> src, dst;
  std::vector<float> weights;
  for (Index begin = 0; begin < arcs; begin += kPiece) {
    const Index count = std::min(kPiece, arcs - begin);
    file.read_at(begin * Index(sizeof(IdArc)), piece.data(), count * Index(sizeof(IdArc)));
    src.clear();
    dst.clear();
    weights.clear();
    for (const IdArc& arc : std::span(piece).first(std::size_t(count))) {
      src.push_back(ids.place_of(arc.src));
      dst.push_back(ids.place_of(arc.dst));
      weights.push_back(float(arc.weight));
    }
    writer.add_arcs(src, dst, weights, {source, begin});
  }
}

}  // namespace

void MappedArcs::add(const IdArc& arc) {
  arrived_.append(&arc, sizeof arc);
  ids_.add(arc.src);
  ids_.add(arc.dst);
  ++arcs_;
}

void MappedArcs::hand_over(const std::string& source, DatasetWriter& writer) {
  arrived_.flush();
  const IdMap ids(ids_.take());
  writer.set_vertices(ids.size());
  add_arcs(arrived_, ids, arcs_, source, writer);
  if (ids.is_identity()) return;
  writer.set_original_ids(ids.ids(), {source});
  writer.add_transform("ids mapped to 0 … vertices − 1 in ascending order");
}

}  // namespace atl
