#include "simulate/matching.h"

#include "base/error.h"

namespace atl {

Transfer& Matching::fresh() {
  if (free_.empty()) return transfers_.emplace_back();
  Transfer& again = *free_.back();
  free_.pop_back();
  return again;
}

Transfer& Matching::match(Rank from, Rank to, Lane lane, int order, std::int64_t bytes, bool sends) {
  const std::int64_t key = (from * ranks_ + to) * 16 + order - kFirstOrder;
  const auto [found, is_new] = lines_.try_emplace(key);
  Line& line = found->second;
  if (!is_new && line.sent != sends) {
    Transfer& met = *line.first;
    line.first = met.next;
    if (line.first == nullptr) lines_.erase(found);
    ATOLL_CHECK(met.bytes == bytes, "rank {} sends {} bytes to rank {}, which expects {}", from,
                sends ? bytes : met.bytes, to, sends ? met.bytes : bytes);
    return met;
  }
  Transfer& mine = fresh();
  mine = {.from = from, .to = to, .lane = lane, .bytes = bytes, .remaining = double(bytes)};
  (is_new ? line.first : line.last->next) = &mine;
  line.last = &mine, line.sent = sends;
  return mine;
}

void Matching::release(Transfer& transfer) {
  if (--transfer.holders == 0) free_.push_back(&transfer);
}

}  // namespace atl
