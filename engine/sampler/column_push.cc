#include "sampler/column_push.h"

#include <algorithm>

namespace atl {

ColumnPush::ColumnPush(Communicator& comm, ThreadPool& pool, const HeldColumns& held,
                       const GroupBatchOptions& options, const RowRoute& route)
    : comm_(comm), pool_(pool), held_(held), options_(options), route_(route) {
  const auto members = std::size_t(held.share.members());
  sizes_.resize(members * PushedSizes::length(options.hops));
  pushed_.resize(members), ids_of_.resize(members);
}

void ColumnPush::push(const Batch& batch, GroupBatch& into, FeatureRows& features) {
  exchange_sizes(batch);
  exchange_batches(batch);
  into.shape(options_, sizes_, held_.share.place);
  into.fill(pushed_, ids_of_);
  features.gather(pool_, held_.values, into.ids(), held_.sparse);
}

PushedSizes ColumnPush::sizes_of(int member) const {
  const std::size_t length = PushedSizes::length(options_.hops);
  return {std::span(sizes_).subspan(std::size_t(member) * length, length), options_.hops};
}

void ColumnPush::swap(Traffic purpose) {
  comm_.exchange(route_.lane, purpose, sends_, receives_).wait();
  sends_.clear(), receives_.clear();
}

void ColumnPush::exchange_sizes(const Batch& batch) {
  PushedSizes::of(batch, options_.hops, mine_);
  const std::size_t length = mine_.size();
  std::ranges::copy(mine_, sizes_.begin() + std::ptrdiff_t(std::size_t(held_.share.place) * length));
  const auto bytes = Index(length * sizeof(std::int64_t));
  for (int m = 0; m < held_.share.members(); ++m) {
    if (m == held_.share.place) continue;
    const Rank peer = held_.share.group[std::size_t(m)];
    sends_.push_back({peer, reinterpret_cast<std::byte*>(mine_.data()), bytes});
    receives_.push_back({peer, reinterpret_cast<std::byte*>(sizes_.data() + std::size_t(m) * length), bytes});
  }
  swap(route_.structure);
}

/// Sends this rank's batch to the other members and receives theirs.
void ColumnPush::exchange_batches(const Batch& batch) {
  const ColumnShare& share = held_.share;
  const Index mine = GroupBatch::pushed_bytes(options_, sizes_of(share.place));
  GroupBatch::pack(options_, batch, outgoing_.take(mine).data());
  Index bytes = 0, rows = 0;
  for (int m = 0; m < share.members(); ++m) {
    if (m == share.place) continue;
    bytes += GroupBatch::pushed_bytes(options_, sizes_of(m));
    rows += sizes_of(m).all_rows();
  }
  std::byte* arrived = arrived_.take(bytes).data();
  VertexId* ids = ids_.take(rows).data();
  auto* const own_ids = const_cast<VertexId*>(batch.ids().data());  // outgoing messages are only read
  std::vector<Message>& sends = sends_;
  for (int m = 0; m < share.members(); ++m) {
    const auto at = std::size_t(m);
    pushed_[at] = m == share.place ? outgoing_.data() : arrived;
    ids_of_[at] = m == share.place ? own_ids : ids;
    if (m == share.place) continue;
    const Index theirs = GroupBatch::pushed_bytes(options_, sizes_of(m));
    sends.push_back({share.group[at], outgoing_.data(), mine});
    receives_.push_back({share.group[at], arrived, theirs});
    arrived += theirs, ids += sizes_of(m).all_rows();
  }
  swap(route_.structure);
  for (int m = 0; m < share.members(); ++m) {
    if (m == share.place) continue;
    const auto at = std::size_t(m);
    sends.push_back({share.group[at], reinterpret_cast<std::byte*>(own_ids), 4 * Index(batch.ids().size())});
    receives_.push_back({share.group[at], reinterpret_cast<std::byte*>(const_cast<VertexId*>(ids_of_[at])),
                         4 * sizes_of(m).all_rows()});
  }
  swap(route_.ids);
}

}  // namespace atl
