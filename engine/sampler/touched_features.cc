#include "sampler/touched_features.h"

#include <algorithm>

namespace atl {

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
