// Builds a batch's rows, if ranks hold rows packed, from own entries, cached entries and arrived entries.
#include <algorithm>

#include "sampler/feature_store.h"

namespace atl {

/// Copies rows out of the cache before new rows replace them there.
void FeatureStore::fetch_packed(std::span<const VertexId> rows, FeatureRows& out) {
  const auto count = Index(rows.size());
  find_here(rows);
  fetch_missing();
  arrived_at_.take(count);
  for (Index i = 0; i < missing_.size(); ++i)
    arrived_at_[places_[requests_.places()[std::size_t(i)]]] = VertexId(i);
  if (sparse_) {
    const auto lengths = out.shape_sparse(count, cols());
    for (Index i = 0; i < count; ++i) lengths[std::size_t(i)] = entries_at(i);
    out.lay_out();
    for_each_row(*ctx_.pool, count, [&](Index i) { put_row_at(i, out.entries(i)); });
  } else {
    out.shape_dense(count, cols());
    unpack(out.dense);
  }
  if (!cache_ || !cache_->replaces()) return;
  for (Index i = 0; i < missing_.size(); ++i)
    cache_->put(missing_[requests_.places()[std::size_t(i)]], packed_->kept(i));
}

Index FeatureStore::entries_at(Index i) const {
  const Index found = found_[i];
  if (found == kMissing) return packed_->arrived_entries(arrived_at_[i]);
  return found >= 0 ? count_entries(own_, found) : packed_->kept_entries(*cache_, place_of(found));
}

template <class Visit>
void FeatureStore::for_each_entry_at(Index i, Visit visit) const {
  const Index found = found_[i];
  if (found == kMissing) return packed_->for_each_arrived(arrived_at_[i], visit);
  if (found >= 0) return for_each_entry(own_, found, visit);
  packed_->for_each_kept(*cache_, place_of(found), visit);
}

void FeatureStore::put_row_at(Index i, FeatureRows::Entries to) const {
  const Index found = found_[i];
  if (found >= 0) return put_row(own_, found, to);
  if (found == kMissing) return packed_->put_arrived(arrived_at_[i], to);
  packed_->for_each_kept(*cache_, place_of(found),
                         [&](VertexId column, Real value) { to.put(column, value); });
}

/// Writes packed rows as dense ones.
void FeatureStore::unpack(MatrixView out) {
  const bool fills = choice_ != nullptr && !fill_.empty();
  if (fills) {
    unchosen_ = fill_;
    for (const VertexId column : choice_->of(rank_)) unchosen_[std::size_t(column)] = 0;
  }
  for_each_row(*ctx_.pool, out.rows, [&](Index i) {
    Real* const to = out.row(i);
    if (fills && found_[i] == kMissing)
      std::ranges::copy(unchosen_, to);
    else
      std::fill_n(to, out.cols, Real(0));
    for_each_entry_at(i, [&](VertexId column, Real value) { to[column] = value; });
  });
}

}  // namespace atl
