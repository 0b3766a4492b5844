#include "sampler/feature_store.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "tensor/bfloat16.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

constexpr Index kRowsOfThread = 256;   // rows that a thread takes at a time
constexpr Index kRowsFetched = 16384;  // rows of a cache that are fetched together

void put(Real value, Real* to) {
  *to = value;
}
void put(Real value, Bfloat16* to) {
  *to = to_bfloat16(float(value));
}
void put(Bfloat16 value, Real* to) {
  *to = Real(to_float(value));
}
void put(Bfloat16 value, Bfloat16* to) {
  *to = value;
}

std::span<const std::byte> bytes_of(MatrixView x, Index row) {
  return {row_of(x, row), std::size_t(x.row_bytes())};
}

}  // namespace

Index cache_rows(const Owners& owners, Index bytes, const RowBytes& row) {
  Index fewest_own = owners.rows(0);
  for (Rank rank = 1; rank < owners.ranks(); ++rank) fewest_own = std::min(fewest_own, owners.rows(rank));
  const Index cells = bytes / RowCache::bytes_of_cell(row.cell);
  const auto room = Index(double(cells) / row.cells_per_row);
  return std::min(room, owners.first_row(owners.ranks()) - fewest_own);
}

FeatureStore::FeatureStore(Context& ctx, const Owners& owners, Communicator& comm, const Rows& own,
                           const FeatureStoreOptions& options)
    : ctx_(ctx),
      owners_(owners),
      rank_(comm.rank()),
      own_(own),
      storage_(own.dense.storage()),
      bfloat16_(options.bfloat16),
      fill_(options.fill),
      device_(options.device),
      sparse_(options.sparse),
      purpose_(options.route.features),
      requests_(owners, comm, options.route.lane) {
  ATOLL_CHECK(own.rows() == owners.rows(rank_), "features of {} rows, {} owned", own.rows(),
              owners.rows(rank_));
  ATOLL_CHECK(own.packed() || !sparse_, "dense rows are given as they are");
  ATOLL_CHECK(fill_.empty() || !sparse_, "rows with columns filled in are dense");
  if (own.packed()) packed_.emplace(*ctx.pool, own_, bfloat16_);
  if (options.cache_bytes == 0) return;
  const RowBytes row = row_bytes(own.form(), cols(), options.entries, bfloat16_, 1, storage_);
  cache_rows_ = atl::cache_rows(owners, options.cache_bytes, row);
  cache_.emplace(Index(std::ceil(double(cache_rows_) * row.cells_per_row)), row.cell,
                 options.policy == CachePolicy::kLru);
}

void FeatureStore::choose(const ColumnChoice* choice) {
  ATOLL_CHECK(choice == nullptr || (!cache_ && choice->features() == cols()), "{} columns of {}{}",
              choice->features(), cols(), cache_ ? ", with a cache" : "");
  choice_ = choice;
}

void FeatureStore::fetch(std::span<const VertexId> rows, FeatureRows& out) {
  if (packed_) return fetch_packed(rows, out);
  out.shape_dense(Index(rows.size()), cols(), storage_);
  fetch_dense(rows, out.dense_rows());
}

void FeatureStore::fetch_dense(std::span<const VertexId> rows, MatrixView out) {
  find_here(rows);
  copy_found(out);
  fetch_missing();
  for (Index i = 0; i < missing_.size(); ++i) {
    const VertexId place = requests_.places()[std::size_t(i)];
    take_arrived(i, out, places_[place]);
    if (cache_ && cache_->replaces()) cache_->put(missing_[place], bytes_of(out, places_[place]));
  }
}

FeatureStore::Source FeatureStore::source_of(VertexId row) const {
  if (!owners_.owns(rank_, row)) return Source::kGiven;
  const auto own = std::size_t(row - owners_.first_row(rank_));
  if (!device_.held.empty() && device_.held[own] != DevicePlaces::kElsewhere) return Source::kHeld;
  return device_.reads_hosts ? Source::kHosts : Source::kGiven;
}

void FeatureStore::fetch(std::span<const VertexId> rows, RowSources& sources, FeatureRows& given) {
  sources.held.take(0), sources.hosts.take(0), sources.order.take(0);
  if (device_.empty()) return fetch(rows, given);
  given_.take(0);
  for (const VertexId row : rows) {
    const auto own = VertexId(row - owners_.first_row(rank_));
    switch (source_of(row)) {
      case Source::kHeld:
        sources.held.push(device_.held[std::size_t(own)]);
        break;
      case Source::kHosts:
        sources.hosts.push(own);
        break;
      case Source::kGiven:
        given_.push(row);
    }
  }
  const Index held = sources.held.size(), hosts = sources.hosts.size();
  if (std::max({held, hosts, given_.size()}) < Index(rows.size())) {
    std::array<VertexId, 3> next{0, VertexId(held), VertexId(held + hosts)};
    const auto order = sources.order.take(Index(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) order[i] = next[std::size_t(source_of(rows[i]))]++;
  }
  counts_.own += held + hosts, counts_.held += held;
  fetch(given_.span(), given);
}

/// Fetches in pieces, because arrived rows take memory beside the cache. Each rank fetches the same number of
/// pieces.
void FeatureStore::fill_cache(std::span<const VertexId> rows) {
  if (!cache_ || cache_->replaces()) return;
  rows = rows.first(std::min(rows.size(), std::size_t(cache_rows_)));
  const Index columns = packed_ ? 0 : cols();
  Matrix memory(1, reals_of(columns, storage_));
  const MatrixView scratch(memory.data(), 1, columns, storage_);
  for (Index begin = 0; begin < cache_rows_; begin += kRowsFetched) {
    missing_.take(0);
    for (Index i = begin; i < std::min(Index(rows.size()), begin + kRowsFetched); ++i)
      missing_.push(rows[std::size_t(i)]);
    fetch_missing();
    for (Index i = 0; i < missing_.size(); ++i)
      cache_->put(missing_[requests_.places()[std::size_t(i)]], kept(i, scratch));
  }
}

/// The i-th arrived row in the form that the cache keeps.
std::span<const std::byte> FeatureStore::kept(Index i, MatrixView scratch) {
  if (packed_) return packed_->kept(i);
  take_arrived(i, scratch, 0);
  return bytes_of(scratch, 0);
}

void FeatureStore::find_here(std::span<const VertexId> rows) {
  found_.take(Index(rows.size()));
  missing_.take(0), places_.take(0);
  const Index first = owners_.first_row(rank_);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const VertexId row = rows[i];
    const bool mine = owners_.owns(rank_, row);
    const VertexId place = !mine && cache_ ? cache_->find(row) : RowCache::kNone;
    const bool hit = place != RowCache::kNone;
    found_[Index(i)] = mine ? row - first : hit ? cached_at(place) : kMissing;
    ++(mine ? counts_.own : hit ? counts_.hits : counts_.fetched);
    if (mine || hit) continue;
    missing_.push(row);
    places_.push(VertexId(i));
  }
}

const std::byte* FeatureStore::dense_row(Index found) const {
  return found >= 0 ? row_of(own_.dense, found) : cache_->cell(place_of(found));
}

void FeatureStore::copy_found(MatrixView out) {
  if (out.empty()) return;
  constexpr Index kAhead = 4;
  const auto bytes = std::size_t(out.row_bytes());
  ctx_.pool->run((out.rows + kRowsOfThread - 1) / kRowsOfThread, [&](Index chunk, int) {
    const Index end = std::min(out.rows, (chunk + 1) * kRowsOfThread);
    for (Index i = chunk * kRowsOfThread; i < end; ++i) {
      if (i + kAhead < end && found_[i + kAhead] != kMissing)
        __builtin_prefetch(dense_row(found_[i + kAhead]));
      if (found_[i] != kMissing) std::memcpy(row_of(out, i), dense_row(found_[i]), bytes);
    }
  });
}

/// Leaves the missing rows in arrived_, in the order of requests_.
void FeatureStore::fetch_missing() {
  requests_.ask(purpose_, missing_.span());
  if (packed_) return packed_->exchange(requests_, purpose_, owners_.first_row(rank_), choice_);
  answer();
  const Index row_bytes = fetched_cols() * Index(bfloat16_ ? sizeof(Bfloat16) : sizeof(Real));
  const RowRequests::Answers rows{outgoing_.data(), requests_.asked_begin(),
                                  arrived_.take(missing_.size() * row_bytes).data(), requests_.wanted_begin(),
                                  row_bytes};
  requests_.answer(purpose_, {&rows, 1});
}

/// Packs the rows that other ranks ask for, and sends them.
void FeatureStore::answer() {
  const auto asked = requests_.asked();
  const auto count = Index(asked.size());
  const auto index = asked_.take(count);
  for (std::size_t i = 0; i < asked.size(); ++i) index[i] = VertexId(asked[i] - owners_.first_row(rank_));
  const Index values = count * fetched_cols();
  if (choice_ != nullptr) {
    const auto packed = outgoing_.take(values * Index(bfloat16_ ? sizeof(Bfloat16) : sizeof(Real)));
    return bfloat16_ ? pack_columns(reinterpret_cast<Bfloat16*>(packed.data()))
                     : pack_columns(reinterpret_cast<Real*>(packed.data()));
  }
  if (bfloat16_) {
    auto* const to = reinterpret_cast<Bfloat16*>(outgoing_.take(values * Index(sizeof(Bfloat16))).data());
    return gather_rows(ctx_, own_.dense, index.data(), {to, count, cols()});
  }
  auto* const to = reinterpret_cast<Real*>(outgoing_.take(values * Index(sizeof(Real))).data());
  gather_rows(ctx_, own_.dense, index.data(), {to, count, cols()});
}

/// Writes, of each row that is asked for, the columns that the asking rank has chosen.
template <class T>
void FeatureStore::pack_columns(T* out) {
  const Index chosen = choice_->chosen();
  const auto begins = requests_.asked_begin();
  for (Rank rank = 0; rank + 1 < Rank(begins.size()); ++rank) {
    const auto columns = choice_->of(rank);
    const Index begin = begins[std::size_t(rank)], count = begins[std::size_t(rank) + 1] - begin;
    ctx_.pool->run((count + kRowsOfThread - 1) / kRowsOfThread, [&](Index chunk, int) {
      for (Index i = begin + chunk * kRowsOfThread; i < begin + std::min(count, (chunk + 1) * kRowsOfThread);
           ++i) {
        const ConstMatrixView row = own_.dense.slice_rows(asked_[i], 1);
        for (Index c = 0; c < chosen; ++c) {
          const VertexId column = columns[std::size_t(c)];
          T* const to = out + i * chosen + c;
          row.halves != nullptr ? put(row.halves[column], to) : put(row.data[column], to);
        }
      }
    });
  }
}

template <class From, class To>
void FeatureStore::copy_arrived(Index i, To* to) const {
  const Index count = fetched_cols();
  const From* const from = reinterpret_cast<const From*>(arrived_.data()) + i * count;
  if (choice_ == nullptr) {
    for (Index c = 0; c < count; ++c) put(from[c], to + c);
    return;
  }
  for (Index c = 0; c < cols(); ++c) put(fill_.empty() ? Real(0) : fill_[std::size_t(c)], to + c);
  const auto columns = choice_->of(rank_);
  for (Index c = 0; c < count; ++c) put(from[c], to + columns[std::size_t(c)]);
}

/// Writes the i-th arrived row to `row` of `out`.
void FeatureStore::take_arrived(Index i, MatrixView out, Index row) const {
  const Index begin = row * out.stride;
  if (storage_ == Storage::kReals)
    bfloat16_ ? copy_arrived<Bfloat16>(i, out.data + begin) : copy_arrived<Real>(i, out.data + begin);
  else
    bfloat16_ ? copy_arrived<Bfloat16>(i, out.halves + begin) : copy_arrived<Real>(i, out.halves + begin);
}

Index FeatureStore::reallocations() const {
  return requests_.reallocations() + (packed_ ? packed_->reallocations() : 0) + found_.reallocations() +
         missing_.reallocations() + places_.reallocations() + given_.reallocations() +
         asked_.reallocations() + arrived_at_.reallocations() + outgoing_.reallocations() +
         arrived_.reallocations();
}

}  // namespace atl
