#include "sampler/column_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "sampler/draw_positions.h"

namespace atl {
namespace {

/// Takes the layer's place in the key of draws of columns. No layer has this number.
constexpr std::uint64_t kFeatures = ~std::uint64_t(0);

}  // namespace

/// Rounds down a little first, because 0.07 · 100 in floating point is slightly more than 7.
Index chosen_columns(double rate, Index features) {
  constexpr double kDecimal = 1 - 4 * std::numeric_limits<double>::epsilon();
  return std::min(features, std::max(Index(1), Index(std::ceil(rate * double(features) * kDecimal))));
}

ColumnChoice::ColumnChoice(int ranks, Index features, Index chosen)
    : features_(features), chosen_(chosen), columns_(std::size_t(ranks * chosen)) {
  ATOLL_CHECK(chosen >= 1 && chosen <= features, "{} of {} columns", chosen, features);
  for (Rank rank = 0; rank < ranks; ++rank)
    std::iota(columns_.begin() + rank * chosen, columns_.begin() + (rank + 1) * chosen, VertexId(0));
}

void ColumnChoice::draw(std::uint64_t seed, std::int64_t step) {
  const Draws draws(seed, Purpose::kNeighbour, std::uint64_t(step), kFeatures);
  const KeyedOrder order(std::uint64_t(features_), draws.key());
  const auto first = columns_.begin(), end = first + chosen_;
  for (Index i = 0; i < chosen_; ++i) first[i] = VertexId(order.at(std::uint64_t(i)));
  std::sort(first, end);
  for (auto to = end; to != columns_.end(); to += chosen_) std::copy(first, end, to);
}

void ColumnChoice::exchange(Communicator& comm, std::span<const VertexId> mine) {
  ATOLL_CHECK(Index(mine.size()) == chosen_, "{} columns of {}", mine.size(), chosen_);
  VertexId* const own = columns_.data() + comm.rank() * chosen_;
  std::ranges::copy(mine, own);
  const std::int64_t bytes = chosen_ * Index(sizeof(VertexId));
  sends_.clear(), receives_.clear();
  for (Rank peer = 0; peer < comm.size(); ++peer) {
    if (peer == comm.rank()) continue;
    sends_.push_back({peer, reinterpret_cast<std::byte*>(own), bytes});
    receives_.push_back({peer, reinterpret_cast<std::byte*>(columns_.data() + peer * chosen_), bytes});
  }
  comm.exchange(Lane::kPrefetch, Traffic::kFeatures, sends_, receives_).wait();
}

}  // namespace atl
