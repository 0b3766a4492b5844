#include "sampler/packed_features.h"

#include <algorithm>

namespace atl {
namespace {

constexpr Index kPairsOfACell = 16;  // pairs of a column and a value; they fill two cache lines

}  // namespace

RowBytes row_bytes(FeatureForm form, Index columns, double entries, bool bfloat16, double chosen,
                   Storage storage) {
  const Index value = bfloat16 ? Index(sizeof(Bfloat16)) : Index(sizeof(Real));
  if (form == FeatureForm::kBits) {
    const Index words = 4 * BitView::words_of(columns);
    return {double(words + value), words + Index(sizeof(Real)), 1};
  }
  if (form == FeatureForm::kSparse)
    return {4 + chosen * entries * double(4 + std::min<Index>(value, 4)), 8 * kPairsOfACell,
            std::max(1.0, entries / double(kPairsOfACell) + 0.5)};
  const Index kept = storage == Storage::kHalves ? Index(sizeof(Bfloat16)) : Index(sizeof(Real));
  return {chosen * double(columns * value), columns * kept, 1};
}

Index PackedFeatures::ones(std::span<const std::uint32_t> words) {
  Index sum = 0;
  for (const std::uint32_t word : words) sum += std::popcount(word);
  return sum;
}

void PackedFeatures::exchange(RowRequests& requests, Traffic purpose, Index first,
                              const ColumnChoice* choice) {
  choose(choice, Index(requests.asked_begin().size()) - 1);
  if (held_.bits != nullptr)
    exchange_bits(requests, purpose, first);
  else
    exchange_sparse(requests, purpose, first);
}

void PackedFeatures::choose(const ColumnChoice* choice, Index ranks) {
  masks_.clear();
  if (choice == nullptr) return;
  const Index count = BitView::words_of(held_.cols());
  masks_.resize(std::size_t(ranks * count));
  for (Rank rank = 0; rank < Rank(ranks); ++rank)
    for (const VertexId column : choice->of(rank))
      masks_[std::size_t(rank * count + column / 32)] |= std::uint32_t(1) << (column % 32);
}

/// Calls visit(i, row, rank) for the i-th row that is asked of this rank, on all threads of the pool.
template <class Visit>
void PackedFeatures::for_each_asked(const RowRequests& requests, Index first, Visit visit) {
  const auto asked = requests.asked();
  const auto begins = requests.asked_begin();
  for (Rank rank = 0; rank + 1 < Rank(begins.size()); ++rank) {
    const Index begin = begins[std::size_t(rank)], count = begins[std::size_t(rank) + 1] - begin;
    for_each_row(pool_, count,
                 [&](Index i) { visit(begin + i, asked[std::size_t(begin + i)] - first, rank); });
  }
}

void PackedFeatures::exchange_bits(RowRequests& requests, Traffic purpose, Index first) {
  const BitView& bits = held_.bits->bits;
  const auto count = Index(requests.asked().size()), wanted = Index(requests.places().size());
  words_out_.take(count * words());
  values_out_.take(count * value_bytes<Real>());
  for_each_asked(requests, first, [&](Index i, Index row, Rank rank) {
    const std::uint32_t* const from = bits.words + row * words();
    std::uint32_t* const to = words_out_.data() + i * words();
    for (Index w = 0; w < words(); ++w)
      to[w] = masks_.empty() ? from[w] : from[w] & mask_of(rank)[std::size_t(w)];
    put_value<Real>(i, held_.bits->levels[row]);
  });
  const RowRequests::Answers answers[] = {
      {words_out_.data(), requests.asked_begin(), words_in_.take(wanted * words()).data(),
       requests.wanted_begin(), 4 * words()},
      {values_out_.data(), requests.asked_begin(), values_in_.take(wanted * value_bytes<Real>()).data(),
       requests.wanted_begin(), value_bytes<Real>()}};
  requests.answer(purpose, answers);
}

/// Sends the numbers of entries first, which tell both ends how many entries follow.
void PackedFeatures::exchange_sparse(RowRequests& requests, Traffic purpose, Index first) {
  const CsrView& csr = held_.sparse->csr;
  const auto count = Index(requests.asked().size());
  counts_out_.take(count);
  for_each_asked(requests, first, [&](Index i, Index row, Rank rank) {
    const auto wanted = [&](VertexId column) { return wants(rank, column); };
    counts_out_[i] =
        std::int32_t(masks_.empty() ? csr.degree(row) : std::ranges::count_if(csr.row(row), wanted));
  });
  const auto counts = requests.by_row(counts_out_, counts_in_);
  requests.answer(purpose, {&counts, 1});
  const auto lay_out = [](const Reusable<std::int32_t>& lengths, std::span<const Index> peers,
                          Reusable<Index>& begins, std::vector<Index>& of_peers) {
    begins.take(lengths.size() + 1);
    begins[0] = 0;
    for (Index i = 0; i < lengths.size(); ++i) begins[i + 1] = begins[i] + lengths[i];
    of_peers.clear();
    for (const Index row : peers) of_peers.push_back(begins[row]);
  };
  lay_out(counts_out_, requests.asked_begin(), begins_out_, peers_out_);
  lay_out(counts_in_, requests.wanted_begin(), begins_in_, peers_in_);
  columns_out_.take(peers_out_.back());
  values_out_.take(peers_out_.back() * value_bytes<float>());
  for_each_asked(requests, first, [&](Index i, Index row, Rank rank) {
    Index at = begins_out_[i];
    if (masks_.empty() && !bfloat16_) {
      std::ranges::copy(csr.row(row), columns_out_.data() + at);
      std::copy_n(csr.weights + csr.offsets[row], csr.degree(row),
                  reinterpret_cast<float*>(values_out_.data()) + at);
      return;
    }
    for (Index e = csr.offsets[row]; e < csr.offsets[row + 1]; ++e) {
      if (!wants(rank, csr.columns[e])) continue;
      columns_out_[at] = csr.columns[e];
      put_value<float>(at++, csr.weights[e]);
    }
  });
  const RowRequests::Answers answers[] = {
      {columns_out_.data(), peers_out_, columns_in_.take(peers_in_.back()).data(), peers_in_, 4},
      {values_out_.data(), peers_out_, values_in_.take(peers_in_.back() * value_bytes<float>()).data(),
       peers_in_, value_bytes<float>()}};
  requests.answer(purpose, answers);
}

std::span<const std::byte> PackedFeatures::kept(Index i) {
  if (held_.bits != nullptr) {
    const auto bytes = std::as_bytes(words_of(i));
    const Real level = value_in<Real>(i);
    const auto to = kept_.take(Index(bytes.size() + sizeof level));
    std::ranges::copy(bytes, to.begin());
    std::memcpy(to.data() + bytes.size(), &level, sizeof level);
    return to;
  }
  std::byte* to = kept_.take(kPairBytes * arrived_entries(i)).data();
  for_each_arrived(i, [&](VertexId column, Real value) {
    const auto stored = float(value);
    std::memcpy(to, &column, 4), std::memcpy(to + 4, &stored, 4);
    to += kPairBytes;
  });
  return kept_.span();
}

Index PackedFeatures::reallocations() const {
  return counts_out_.reallocations() + counts_in_.reallocations() + begins_out_.reallocations() +
         begins_in_.reallocations() + columns_out_.reallocations() + columns_in_.reallocations() +
         words_out_.reallocations() + words_in_.reallocations() + values_out_.reallocations() +
         values_in_.reallocations() + kept_.reallocations();
}

TouchedFeatures::TouchedFeatures(Communicator& comm, Index features)
    : comm_(comm),
      features_(features),
      mine_(std::size_t(BitView::words_of(features))),
      theirs_(mine_.size() * std::size_t(comm.size())) {}

void TouchedFeatures::find(const FeatureRows& rows, Reusable<VertexId>& all) {
  const CsrView& by_feature = rows.rows().sparse->transpose;
  ATOLL_CHECK(by_feature.rows == features_, "{} features of {}", by_feature.rows, features_);
  std::ranges::fill(mine_, 0U);
  for (Index c = 0; c < features_; ++c)
    if (by_feature.degree(c) > 0) mine_[std::size_t(c / 32)] |= std::uint32_t(1) << (c % 32);
  const auto bytes = Index(4 * mine_.size());
  sends_.clear(), receives_.clear();
  for (Rank rank = 0; rank < comm_.size(); ++rank) {
    if (rank == comm_.rank()) continue;
    sends_.push_back({rank, reinterpret_cast<std::byte*>(mine_.data()), bytes});
    receives_.push_back(
        {rank, reinterpret_cast<std::byte*>(theirs_.data() + std::size_t(rank) * mine_.size()), bytes});
  }
  comm_.exchange(Lane::kPrefetch, Traffic::kFeatures, sends_, receives_).wait();
  for (Rank rank = 0; rank < comm_.size(); ++rank) {
    if (rank == comm_.rank()) continue;
    for (std::size_t w = 0; w < mine_.size(); ++w) mine_[w] |= theirs_[std::size_t(rank) * mine_.size() + w];
  }
  all.take(0);
  for_each_bit(mine_, [&](VertexId feature) { all.push(feature); });
}

}  // namespace atl
