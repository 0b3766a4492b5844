#include "dataset/import/id_map.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace atl {

std::optional<std::pair<Index, Index>> first_twice(std::span<const std::int64_t> ids) {
  if (std::ranges::adjacent_find(ids, std::greater_equal()) == ids.end())
    return {};                                         // ascending: nothing can be twice
  std::vector<std::pair<std::int64_t, Index>> places;  // by id
  places.reserve(ids.size());
  for (const std::int64_t id : ids) places.emplace_back(id, Index(places.size()));
  std::ranges::sort(places);
  const auto twice = std::ranges::adjacent_find(places, {}, &std::pair<std::int64_t, Index>::first);
  if (twice == places.end()) return {};
  return std::pair(twice->second, std::next(twice)->second);
}

void IdCollector::compact() {
  std::sort(fresh_.begin(), fresh_.end());
  fresh_.erase(std::unique(fresh_.begin(), fresh_.end()), fresh_.end());
  std::vector<std::int64_t> merged;
  merged.reserve(known_.size() + fresh_.size());
  std::set_union(known_.begin(), known_.end(), fresh_.begin(), fresh_.end(), std::back_inserter(merged));
  known_ = std::move(merged);
  fresh_.clear();
  limit_ = std::max(limit_, known_.size());  // keeps merging linear in the length of the stream
}

std::vector<std::int64_t> IdCollector::take() {
  compact();
  return std::exchange(known_, {});
}

IdMap::IdMap(std::vector<std::int64_t> ids) : ids_(std::move(ids)) {
  constexpr std::int64_t kSparsest = 8;  // table entries per id: 32 bytes, as much as a hash table would take
  if (ids_.empty() || ids_.back() >= kSparsest * Index(ids_.size()) + 1024) return;
  table_.assign(std::size_t(ids_.back()) + 1, -1);
  for (std::size_t place = 0; place < ids_.size(); ++place)
    table_[std::size_t(ids_[place])] = VertexId(place);
}

VertexId IdMap::place_of(std::int64_t id) const {
  if (!table_.empty()) return table_[std::size_t(id)];
  return VertexId(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
}

namespace {

constexpr Index kPiece = 1 << 16;

/// Adds the stored arcs with their new ids.
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
