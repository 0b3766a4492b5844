#include "sampler/row_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace atl {

Index RowCache::row_bytes(Index cols) {
  return cols * Index(sizeof(Real)) + Index(sizeof(Use)) + 4 * Index(sizeof(Cell));
}

RowCache::RowCache(Index rows, Index cols, bool replaces) : replaces_(replaces) {
  ATOLL_CHECK(rows >= 0 && rows <= std::numeric_limits<VertexId>::max() && cols > 0, "{} rows of {} columns",
              rows, cols);
  rows_.resize(rows, cols);
  cells_.resize(std::bit_ceil(std::size_t(2 * rows) + 1));
  uses_.resize(std::size_t(rows));
}

std::size_t RowCache::home(VertexId row) const {
  return (std::uint64_t(std::uint32_t(row)) * 0x9e3779b97f4a7c15ull >> 32) & (cells_.size() - 1);
}

/// Where the row stands, or the free cell where it would.
std::size_t RowCache::cell_of(VertexId row) const {
  std::size_t at = home(row);
  while (cells_[at].row != row && cells_[at].row != kNone) at = (at + 1) & (cells_.size() - 1);
  return at;
}

const Real* RowCache::find(VertexId row) {
  const Cell& cell = cells_[cell_of(row)];
  if (cell.row == kNone) return nullptr;
  if (replaces_ && cell.slot != newest_) {
    unlink(cell.slot);
    make_newest(cell.slot);
  }
  return rows_.view().row(cell.slot);
}

void RowCache::put(VertexId row, const Real* values) {
  if (capacity() == 0 || (size_ == capacity() && !replaces_) || cells_[cell_of(row)].row == row) return;
  const VertexId slot = free_slot();
  cells_[cell_of(row)] = {row, slot};
  uses_[std::size_t(slot)].row = row;
  make_newest(slot);
  std::copy_n(values, rows_.cols(), rows_.view().row(slot));
}

VertexId RowCache::free_slot() {
  if (size_ < capacity()) return VertexId(size_++);
  const VertexId slot = oldest_;
  unlink(slot);
  forget(uses_[std::size_t(slot)].row);
  return slot;
}

/// Closes the gap: whoever stands behind it, no nearer to home than the gap allows, moves up (Knuth, vol. 3, 6.4, algorithm R).
void RowCache::forget(VertexId row) {
  const std::size_t mask = cells_.size() - 1;
  std::size_t gap = cell_of(row);
  for (std::size_t at = (gap + 1) & mask; cells_[at].row != kNone; at = (at + 1) & mask) {
    const std::size_t from_home = (at - home(cells_[at].row)) & mask, from_gap = (at - gap) & mask;
    if (from_home < from_gap) continue;
    cells_[gap] = cells_[at];
    gap = at;
  }
  cells_[gap] = {};
}

void RowCache::unlink(VertexId slot) {
  const Use& use = uses_[std::size_t(slot)];
  (use.newer == kNone ? newest_ : uses_[std::size_t(use.newer)].older) = use.older;
  (use.older == kNone ? oldest_ : uses_[std::size_t(use.older)].newer) = use.newer;
}

void RowCache::make_newest(VertexId slot) {
  Use& use = uses_[std::size_t(slot)];
  use.newer = kNone, use.older = newest_;
  (newest_ == kNone ? oldest_ : uses_[std::size_t(newest_)].newer) = slot;
  newest_ = slot;
}

namespace {

struct Nominee {
  double degree;
  VertexId row;
};

/// More before fewer; of equals the lower row, so that every rank has the same order.
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

/// Twice a rank's even share is nominated: parts are alike, and the choice needn't be the best.
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
