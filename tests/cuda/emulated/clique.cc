#include "clique.h"

#include <algorithm>
#include <cstring>

#include "tensor/far_device.h"

namespace emulated {

using atl::test::FarMemory;

bool Clique::join(int rank, int gpu) {
  const std::lock_guard lock(mutex_);
  if (gpus_[std::size_t(rank)] >= 0) return false;
  gpus_[std::size_t(rank)] = gpu;
  return true;
}

ncclResult_t Clique::joined() const {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(gpus_, -1) != gpus_.end()) return ncclInProgress;
  std::vector<int> gpus = gpus_;
  std::ranges::sort(gpus);
  return std::ranges::adjacent_find(gpus) == gpus.end() ? ncclSuccess : ncclInvalidUsage;
}

/// Between two ranks, messages of one direction meet in the order in which they were launched.
Op* Clique::opposite(int rank, const Op& op) {
  Group* const other = heads_[std::size_t(op.peer)].get();
  if (other == nullptr) return nullptr;
  for (Op& each : other->ops)
    if (!each.met && each.peer == rank && each.sent != op.sent) return &each;
  return nullptr;
}

bool Clique::meet(const std::shared_ptr<Group>& group) {
  const std::lock_guard lock(mutex_);
  if (group->given_up) return true;
  const int rank = group->rank;
  heads_[std::size_t(rank)] = group;
  for (Op& op : group->ops) {
    Op* const other = op.met ? nullptr : opposite(rank, op);
    if (other == nullptr) continue;
    if (op.bytes != other->bytes)
      end("NCCL: a message's two sides differ in size: ranks' calls are in different orders");
    const Op &from = op.sent ? op : *other, &to = op.sent ? *other : op;
    std::memcpy(FarMemory::instance().near(to.data), FarMemory::instance().near(from.data), op.bytes);
    op.met = other->met = true;
  }
  if (std::ranges::all_of(group->ops, &Op::met)) {
    heads_[std::size_t(rank)] = nullptr;
    return true;
  }
  if (waits_for_itself(rank, rank, 0))
    end("NCCL: ranks wait for each other's groups for ever: they are launched in different orders");
  return false;
}

/// Whether `from`'s head waits, for one rank after the other, for what stands behind `rank`'s.
bool Clique::waits_for_itself(int rank, int from, int steps) const {
  if (steps > size()) return false;
  for (const Op& op : heads_[std::size_t(from)]->ops) {
    if (op.met || heads_[std::size_t(op.peer)] == nullptr) continue;
    if (std::ranges::all_of(heads_[std::size_t(op.peer)]->ops, &Op::met)) continue;
    if (op.peer == rank || waits_for_itself(rank, op.peer, steps + 1)) return true;
  }
  return false;
}

void Clique::give_up(Group& group) {
  const std::lock_guard lock(mutex_);
  group.given_up = true;
  auto& head = heads_[std::size_t(group.rank)];
  if (head.get() == &group) head = nullptr;
}

}  // namespace emulated
