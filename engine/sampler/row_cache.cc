#include "sampler/row_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace atl {

Index RowCache::bytes_of_cell(Index cell_bytes) {
  return cell_bytes + Index(sizeof(VertexId) + sizeof(Use)) + 4 * Index(sizeof(Entry));
}

RowCache::RowCache(Index cells, Index cell_bytes, bool replaces)
    : replaces_(replaces), cell_bytes_(cell_bytes), free_cells_(cells) {
  ATOLL_CHECK(cells >= 0 && cells <= std::numeric_limits<VertexId>::max() && cell_bytes > 0,
              "{} cells of {} bytes", cells, cell_bytes);
  memory_.resize(std::size_t(cells * cell_bytes));
  entries_.resize(std::bit_ceil(std::size_t(2 * cells) + 1));
  uses_.resize(std::size_t(cells));
  next_.resize(std::size_t(cells));
  for (Index cell = 0; cell < cells; ++cell)
    next_[std::size_t(cell)] = cell + 1 < cells ? VertexId(cell + 1) : kNone;
  if (cells > 0) free_ = 0;
}

std::size_t RowCache::home(VertexId row) const {
  return (std::uint64_t(std::uint32_t(row)) * 0x9e3779b97f4a7c15ull >> 32) & (entries_.size() - 1);
}

/// The entry of the row, or the free entry where it would be put.
std::size_t RowCache::entry_of(VertexId row) const {
  std::size_t at = home(row);
  while (entries_[at].row != row && entries_[at].row != kNone) at = (at + 1) & (entries_.size() - 1);
  return at;
}

VertexId RowCache::find(VertexId row) {
  const Entry& entry = entries_[entry_of(row)];
  if (entry.row == kNone) return kNone;
  if (replaces_ && entry.place != newest_) {
    unlink(entry.place);
    make_newest(entry.place);
  }
  return entry.place;
}

void RowCache::put(VertexId row, std::span<const std::byte> bytes) {
  const Index size = Index(bytes.size()), count = std::max<Index>(1, (size + cell_bytes_ - 1) / cell_bytes_);
  if (count > cells() || entries_[entry_of(row)].row == row || !make_room(count)) return;
  const VertexId place = take_cell();
  entries_[entry_of(row)] = {row, place};
  uses_[std::size_t(place)].row = row, uses_[std::size_t(place)].bytes = std::int32_t(size);
  make_newest(place);
  ++size_;
  VertexId cell = place;
  for (Index begin = 0;; begin += cell_bytes_) {
    if (size > 0)
      std::memcpy(memory_.data() + cell * cell_bytes_, bytes.data() + begin,
                  std::size_t(std::min(cell_bytes_, size - begin)));
    if (begin + cell_bytes_ >= size) break;
    cell = next_[std::size_t(cell)] = take_cell();
  }
  next_[std::size_t(cell)] = kNone;
}

/// Makes room for `cells` cells, which is at most the number of all cells. Returns whether there is room.
bool RowCache::make_room(Index cells) {
  while (free_cells_ < cells && replaces_) drop(oldest_);
  return free_cells_ >= cells;
}

VertexId RowCache::take_cell() {
  const VertexId cell = free_;
  free_ = next_[std::size_t(cell)];
  --free_cells_;
  return cell;
}

void RowCache::drop(VertexId place) {
  unlink(place);
  forget(uses_[std::size_t(place)].row);
  --size_;
  for (VertexId cell = place; cell != kNone;) {
    const VertexId after = next_[std::size_t(cell)];
    next_[std::size_t(cell)] = free_, free_ = cell;
    ++free_cells_;
    cell = after;
  }
}

/// Closes the gap: an entry behind it that is no nearer to its home than the gap moves up (Knuth, vol. 3,
/// 6.4, algorithm R).
void RowCache::forget(VertexId row) {
  const std::size_t mask = entries_.size() - 1;
  std::size_t gap = entry_of(row);
  for (std::size_t at = (gap + 1) & mask; entries_[at].row != kNone; at = (at + 1) & mask) {
    const std::size_t from_home = (at - home(entries_[at].row)) & mask, from_gap = (at - gap) & mask;
    if (from_home < from_gap) continue;
    entries_[gap] = entries_[at];
    gap = at;
  }
  entries_[gap] = {};
}

void RowCache::unlink(VertexId place) {
  const Use& use = uses_[std::size_t(place)];
  (use.newer == kNone ? newest_ : uses_[std::size_t(use.newer)].older) = use.older;
  (use.older == kNone ? oldest_ : uses_[std::size_t(use.older)].newer) = use.newer;
}

void RowCache::make_newest(VertexId place) {
  Use& use = uses_[std::size_t(place)];
  use.newer = kNone, use.older = newest_;
  (newest_ == kNone ? oldest_ : uses_[std::size_t(newest_)].newer) = place;
  newest_ = place;
}

namespace {

struct Nominee {
  double degree;
  VertexId row;
};

/// Rows of a higher degree come first. Of two with the same degree, the lower row does, so that every rank
/// has the same order.
bool before(const Nominee& a, const Nominee& b) {
  return a.degree != b.degree ? a.degree > b.degree : a.row < b.row;
}

void keep_first(std::vector<Nominee>& nominees, std::size_t count) {
  if (count < nominees.size()) {
    std::nth_element(nominees.begin(), nominees.begin() + std::ptrdiff_t(count), nominees.end(), before);
    nominees.resize(count);
  }
  std::ranges::sort(nominees, before);
}

}  // namespace

/// Each rank nominates twice its even share of the rows. This is enough, because parts are alike and the
/// choice needn't be the best.
std::vector<VertexId> rows_by_degree(const DrawnGraph& graph, const Owners& owners, Communicator& comm,
                                     Index count) {
  std::vector<Nominee> own;
  const Rank me = comm.rank();
  for (auto row = VertexId(owners.first_row(me)); row < owners.first_row(me + 1); ++row)
    own.push_back({graph.degree(row), row});
  const Index others = std::max(1, comm.size() - 1);
  keep_first(own, std::size_t((2 * count + others - 1) / others));
  std::vector<Nominee> all;
  for (const auto& bytes : comm.all_gather(Traffic::kSetup, std::as_bytes(std::span(own)))) {
    const std::size_t begin = all.size();
    all.resize(begin + bytes.size() / sizeof(Nominee));
    if (!bytes.empty()) std::memcpy(all.data() + begin, bytes.data(), bytes.size());
  }
  std::erase_if(all, [&](const Nominee& nominee) { return owners.owns(me, nominee.row); });
  keep_first(all, std::size_t(count));
  std::vector<VertexId> rows;
  for (const Nominee& nominee : all) rows.push_back(nominee.row);
  return rows;
}

RequestCounts::RequestCounts(const Owners& owners, Rank rank) : owners_(owners), rank_(rank) {
  table_.clear();
}

void RequestCounts::add(std::span<const VertexId> rows) {
  for (const VertexId row : rows) {
    if (owners_.owns(rank_, row)) continue;
    const VertexId number = table_.find_or_add(row, VertexId(counts_.size()));
    if (std::size_t(number) == counts_.size()) counts_.push_back({row, 0});
    ++counts_[std::size_t(number)].count;
  }
}

std::vector<VertexId> RequestCounts::rows() const {
  std::vector<Count> sorted = counts_;
  std::ranges::sort(sorted, [](const Count& a, const Count& b) {
    return a.count != b.count ? a.count > b.count : a.row < b.row;
  });
  std::vector<VertexId> rows;
  for (const Count& count : sorted) rows.push_back(count.row);
  return rows;
}

std::vector<VertexId> rows_by_presampling(StepSeeds& seeds, Sampler& sampler, const Owners& owners, Rank rank,
                                          std::int64_t steps, PairEnds* pairs) {
  RequestCounts counts(owners, rank);
  std::vector<VertexId> rows, edges;
  StepPairs ends;
  Batch batch;
  for (std::int64_t step = 0; step < steps; ++step) {
    seeds.of_step(step, pairs == nullptr ? rows : edges);
    if (pairs != nullptr) pairs->of_step(step, edges, Index(seeds.size(step)), ends, rows);
    sampler.sample(step, rows, batch);
    counts.add(batch.rows());
  }
  return counts.rows();
}

}  // namespace atl
