// The feature rows of other ranks, if ranks hold rows packed. They are sent and cached as they are held:
// sparse rows as columns and values; bits as bits, with the value that a set bit stands for. If rows are sent
// as bfloat16, values are rounded and columns aren't.
#pragma once

#include <cstring>
#include <span>
#include <utility>

#include "sampler/column_choice.h"
#include "sampler/feature_rows.h"
#include "sampler/owners.h"
#include "sampler/row_cache.h"
#include "tensor/bfloat16.h"

namespace atl {

/// The average size of a row.
struct RowBytes {
  double message = 0;  // bytes in a message, without the request
  Index cell = 0;      // size of a cell in the cache
  double cells_per_row = 1;
};
/// `entries`: average number per sparse row. `chosen`: share of the columns that is sent. `storage`: how the
/// cache stores dense rows.
RowBytes row_bytes(FeatureForm form, Index columns, double entries, bool bfloat16, double chosen = 1,
                   Storage storage = Storage::kReals);

/// One per sampling thread.
class PackedFeatures {
 public:
  /// `pool` and `held` outlive it.
  PackedFeatures(ThreadPool& pool, const Rows& held, bool bfloat16)
      : pool_(pool), held_(held), bfloat16_(bfloat16) {}

  /// Sends and receives the rows that were asked for last. `first`: the number of the first held row.
  /// `choice`: the columns to send; null: all. Collective.
  void exchange(RowRequests& requests, Traffic purpose, Index first, const ColumnChoice* choice);
  /// The i-th arrived row, in the order of the requests: its number of entries, …
  Index arrived_entries(Index i) const {
    return held_.bits == nullptr ? begins_in_[i + 1] - begins_in_[i] : ones(words_of(i));
  }
  /// … its entries, visit(column, value), by ascending column, …
  template <class Visit>
  void for_each_arrived(Index i, Visit visit) const {
    if (held_.bits != nullptr) {
      const Real level = value_in<Real>(i);
      return for_each_bit(words_of(i), [&](VertexId column) { visit(column, level); });
    }
    for (Index e = begins_in_[i]; e < begins_in_[i + 1]; ++e) visit(columns_in_[e], Real(value_in<float>(e)));
  }
  void put_arrived(Index i, FeatureRows::Entries to) const {
    if (held_.bits != nullptr || bfloat16_)
      return for_each_arrived(i, [&](VertexId column, Real value) { to.put(column, value); });
    to.put(columns_in_.span().subspan(std::size_t(begins_in_[i]), std::size_t(arrived_entries(i))),
           reinterpret_cast<const float*>(values_in_.data()) + begins_in_[i]);
  }
  /// … and the row as a cache keeps it; valid until the next call.
  std::span<const std::byte> kept(Index i);

  // The same for a kept row, at its place in the cache.
  Index kept_entries(const RowCache& cache, VertexId place) const {
    if (held_.bits == nullptr) return cache.bytes(place) / kPairBytes;
    return ones(kept_words(cache, place));
  }
  template <class Visit>
  void for_each_kept(const RowCache& cache, VertexId place, Visit visit) const {
    if (held_.bits != nullptr) {
      const auto words = kept_words(cache, place);
      Real level;
      std::memcpy(&level, words.data() + words.size(), sizeof level);
      return for_each_bit(words, [&](VertexId column) { visit(column, level); });
    }
    Index left = cache.bytes(place);
    for (VertexId cell = place; left > 0; cell = cache.next(cell), left -= cache.cell_bytes())
      for (Index at = 0; at < std::min(left, cache.cell_bytes()); at += kPairBytes) {
        std::pair<VertexId, float> pair;
        std::memcpy(&pair.first, cache.cell(cell) + at, 4),
            std::memcpy(&pair.second, cache.cell(cell) + at + 4, 4);
        visit(pair.first, Real(pair.second));
      }
  }

  Index reallocations() const;

 private:
  static constexpr Index kPairBytes = 8;  // a column and a value
  static Index ones(std::span<const std::uint32_t> words);
  Index words() const { return held_.bits->bits.row_words(); }
  std::span<const std::uint32_t> words_of(Index i) const {
    return words_in_.span().subspan(std::size_t(i * words()), std::size_t(words()));
  }
  std::span<const std::uint32_t> kept_words(const RowCache& cache, VertexId place) const {
    return {reinterpret_cast<const std::uint32_t*>(cache.cell(place)), std::size_t(words())};
  }
  /// The bytes that a value of a sparse row takes, or the level of a row of bits: those of a T, or of a
  /// bfloat16.
  template <class T>
  Index value_bytes() const {
    return bfloat16_ ? Index(sizeof(Bfloat16)) : Index(sizeof(T));
  }
  template <class T>
  T value_in(Index i) const {
    if (!bfloat16_) return reinterpret_cast<const T*>(values_in_.data())[i];
    return T(to_float(reinterpret_cast<const Bfloat16*>(values_in_.data())[i]));
  }
  template <class T>
  void put_value(Index i, T value) {
    if (bfloat16_)
      reinterpret_cast<Bfloat16*>(values_out_.data())[i] = to_bfloat16(float(value));
    else
      reinterpret_cast<T*>(values_out_.data())[i] = value;
  }
  void choose(const ColumnChoice* choice, Index ranks);
  bool wants(Rank rank, VertexId column) const {
    return masks_.empty() || (mask_of(rank)[std::size_t(column / 32)] >> (column % 32) & 1) != 0;
  }
  std::span<const std::uint32_t> mask_of(Rank rank) const {
    const auto count = std::size_t(BitView::words_of(held_.cols()));
    return std::span(masks_).subspan(std::size_t(rank) * count, count);
  }
  template <class Visit>
  void for_each_asked(const RowRequests& requests, Index first, Visit visit);
  void exchange_bits(RowRequests& requests, Traffic purpose, Index first);
  void exchange_sparse(RowRequests& requests, Traffic purpose, Index first);

  ThreadPool& pool_;
  const Rows held_;
  const bool bfloat16_;
  std::vector<std::uint32_t> masks_;  // (ranks, words) columns that each rank wants; empty: all
  Reusable<std::int32_t> counts_out_, counts_in_;
  Reusable<Index> begins_out_, begins_in_;   // (rows + 1) begins of the rows' entries
  std::vector<Index> peers_out_, peers_in_;  // (ranks + 1) begins of the ranks' entries
  Reusable<VertexId> columns_out_, columns_in_;
  Reusable<std::uint32_t> words_out_, words_in_;
  Reusable<std::byte> values_out_, values_in_, kept_;
};

// Which features have a value in the rows of a step's batches, on any rank. For all other features the first
// layer's weights have no gradient (train/gradient.h).

/// One per sampling thread, which makes all calls.
class TouchedFeatures {
 public:
  /// `features` is their number. comm outlives it.
  TouchedFeatures(Communicator& comm, Index features);

  /// Reads transposed sparse rows and fills `all`, ascending. Collective: each rank sends one bit per feature
  /// to every other.
  void find(const FeatureRows& rows, Reusable<VertexId>& all);
  /// Bytes that a rank sends per step.
  static Index bytes_sent(int ranks, Index features) { return 4 * BitView::words_of(features) * (ranks - 1); }

 private:
  Communicator& comm_;
  Index features_;
  std::vector<std::uint32_t> mine_, theirs_;  // (words), (ranks, words)
  std::vector<Message> sends_, receives_;
};

}  // namespace atl
