#include "dataset/import/id_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

constexpr Index kMappedPiece = 1 << 16;

/// Adds the stored arcs with their new ids.
void add_arcs(const ScratchFile& file, const IdMap& ids, Index arcs, const std::string& source,
              DatasetWriter& writer) {
  std::vector<IdArc> piece(kMappedPiece);
  std::vector<VertexId> src, dst;
  std::vector<float> weights;
  for (Index begin = 0; begin < arcs; begin += kMappedPiece) {
    const Index count = std::min(kMappedPiece, arcs - begin);
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

namespace {

template <class Label>
NumberedLabels number(std::span<const Label> labels, const Label& unlabelled) {
  std::vector<Label> distinct(labels.begin(), labels.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::erase(distinct, unlabelled);
  NumberedLabels found;
  for (const Label& label : distinct) found.names.push_back(fmt::format("{}", label));
  found.classes.reserve(labels.size());
  for (const Label& label : labels) {
    const auto place = std::lower_bound(distinct.begin(), distinct.end(), label) - distinct.begin();
    found.classes.push_back(label == unlabelled ? -1 : std::int32_t(place));
  }
  return found;
}

}  // namespace

NumberedLabels number_labels(std::span<const std::int32_t> labels) {
  return number(labels, std::int32_t(-1));
}

NumberedLabels number_labels(std::span<const std::string> labels) {
  return number(labels, std::string());
}

std::string not_classes(std::span<const double> labels) {
  constexpr std::size_t kMostNames = 100;  // there must also be two vertices for each name, on average
  std::vector<double> distinct(labels.begin(), labels.end());
  std::erase_if(distinct, [](double label) { return std::isnan(label); });
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const std::string text =
      "Atoll predicts classes, not numbers (regression isn't built); classes are whole numbers of 32 bits, or text";
  if (distinct.size() > std::min(kMostNames, labels.size() / 2)) return text;
  return fmt::format("{}: if these {} values are names of classes, save labels.astype(str)", text,
                     distinct.size());
}

std::vector<std::int32_t> classes_of_one_hot(std::span<const std::uint8_t> rows, std::size_t classes) {
  std::vector<std::int32_t> found;
  for (std::size_t begin = 0; begin < rows.size(); begin += classes) {
    const auto row = rows.subspan(begin, classes);
    const auto ones = std::count(row.begin(), row.end(), 1);
    if (ones > 1) return {};
    found.push_back(ones == 0 ? -1 : std::int32_t(std::find(row.begin(), row.end(), 1) - row.begin()));
  }
  return found;
}

}  // namespace atl
