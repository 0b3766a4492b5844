// What a checkpoint has of a rank's historical embeddings: those that are kept, their ages, and those under way with the slots that they
// are for. Numbers cross as two Reals each, which a float holds exactly.
#include <fmt/format.h>

#include "strategies/minibatch/embedding_history.h"

namespace atl {
namespace {

constexpr Index kHalf = Index(1) << 20;

/// Column by column of (2, numbers).
class Numbers {
 public:
  explicit Numbers(MatrixView numbers) : numbers_(numbers) {}
  void put(Index n) {
    const Index high = n / kHalf, low = n % kHalf;
    numbers_.at(0, at_) = Real(high), numbers_.at(1, at_) = Real(low);
    ++at_;
  }
  Index take() {
    const auto n = Index(numbers_.at(0, at_)) * kHalf + Index(numbers_.at(1, at_));
    ++at_;
    return n;
  }

 private:
  MatrixView numbers_;
  Index at_ = 0;
};

}  // namespace

/// Waits for what is under way: it is as good early as late.
std::vector<NamedMatrix> EmbeddingHistory::state() {
  if (rows_.slots() == 0) {
    for (Flight& each : flights_) each.event.wait();
    return {};
  }
  write_known();
  is_told_ = true;
  std::vector<NamedMatrix> all{{"history.ages", ages_}};
  for (std::size_t i = 0; i < kept_.size(); ++i)
    all.push_back({fmt::format("history.rows.{}", i), kept_[i], ctx_.device});
  for (std::size_t f = 0; f < flights_.size(); ++f) {
    all.push_back({fmt::format("history.arriving.{}", f), flights_[f].known});
    for (std::size_t i = 0; i < kept_.size(); ++i)
      all.push_back({fmt::format("history.arriving.{}.{}", f, i), flights_[f].arriving[i], ctx_.device});
  }
  return all;
}

/// A flight's first number is how many steps ago it was begun.
void EmbeddingHistory::write_known() {
  for (int layer = 0; layer < ages_.rows(); ++layer)
    for (VertexId slot = 0; slot < VertexId(rows_.slots()); ++slot)
      ages_.at(layer, slot) = Real(directory_.age(layer, slot, next_));
  for (Flight& each : flights_) each.known.zero();
  for (std::int64_t ago = 1; ago <= directory_.options().delay; ++ago) {
    const PushedRows* const pushed = directory_.pushed_in(next_ - ago);
    if (pushed == nullptr) continue;
    Flight& flight = flight_of(next_ - ago);
    settle(flight, *pushed);
    Numbers to(flight.known);
    to.put(ago);
    for (const Index count : pushed->counts) to.put(count);
    for (const VertexId slot : pushed->rows.span()) to.put(slot);
  }
}

void EmbeddingHistory::read_known(std::int64_t step) {
  for (int layer = 0; layer < ages_.rows(); ++layer)
    for (VertexId slot = 0; slot < VertexId(rows_.slots()); ++slot)
      directory_.set_age(layer, slot, step, std::int64_t(ages_.at(layer, slot)));
  const auto ranks = std::size_t(rows_.ranks()), layers = kept_.size();
  for (Flight& flight : flights_) {
    Numbers from(flight.known);
    const Index ago = from.take();
    if (ago == 0) continue;
    PushedRows& pushed = directory_.put(step - ago);
    pushed.counts.resize(ranks * layers), pushed.begins.assign(ranks + 1, 0);
    for (Index& count : pushed.counts) count = from.take();
    for (std::size_t r = 0; r < ranks; ++r)
      pushed.begins[r + 1] = pushed.begins[r] + pushed.counts[r * layers];
    for (VertexId& slot : pushed.rows.take(pushed.begins.back())) slot = VertexId(from.take());
  }
}

}  // namespace atl
