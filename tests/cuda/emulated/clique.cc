#include "clique.h"

#include <algorithm>
#include <cstring>

#include "tensor/far_device.h"

namespace emulated {

using atl::test::FarMemory;

namespace {

std::atomic<std::int64_t> sums_made{0};

}  // namespace

std::int64_t nccl_sums() {
  return sums_made;
}

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
  if (other == nullptr || other->sums()) return nullptr;
  for (Op& each : other->ops)
    if (!each.met && each.peer == rank && each.does != op.does) return &each;
  return nullptr;
}

bool Clique::meet(const std::shared_ptr<Group>& group) {
  const std::lock_guard lock(mutex_);
  if (group->given_up) return true;
  const int rank = group->rank;
  heads_[std::size_t(rank)] = group;
  if (group->sums())
    sum_up();
  else
    meet_messages(*group);
  if (std::ranges::all_of(group->ops, &Op::met)) {
    heads_[std::size_t(rank)] = nullptr;
    return true;
  }
  if (waits_for_itself(rank, rank, 0))
    end("NCCL: ranks wait for each other's groups for ever: they are launched in different orders");
  return false;
}

void Clique::meet_messages(Group& group) {
  for (Op& op : group.ops) {
    Op* const other = op.met ? nullptr : opposite(group.rank, op);
    if (other == nullptr) continue;
    if (op.bytes != other->bytes)
      end("NCCL: a message's two sides differ in size: ranks' calls are in different orders");
    const bool sent = op.does == Does::kSends;
    const Op &from = sent ? op : *other, &to = sent ? *other : op;
    std::memcpy(FarMemory::instance().near(to.data), FarMemory::instance().near(from.data), op.bytes);
    op.met = other->met = true;
  }
}

namespace {

/// Into all of them, added in the order in which they stand here.
template <class T>
void add_up(const std::vector<void*>& terms, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T sum = 0;
    for (void* const each : terms) sum += static_cast<const T*>(each)[i];
    for (void* const each : terms) static_cast<T*>(each)[i] = sum;
  }
}

}  // namespace

/// Where all have come to it.
void Clique::sum_up() {
  std::vector<void*> terms;
  const Op* first = nullptr;
  for (const auto& head : heads_) {
    if (head == nullptr || !head->sums() || head->ops.front().met) return;
    const Op& op = head->ops.front();
    if (first == nullptr) first = &op;
    if (op.bytes != first->bytes || op.width != first->width)
      end("NCCL: ranks sum different numbers of values: their calls are in different orders");
    terms.push_back(FarMemory::instance().near(op.data));
  }
  for (std::size_t i = terms.size(); i > 1; --i) std::swap(terms[i - 1], terms[draws_.next() % i]);
  const std::size_t count = first->bytes / first->width;
  first->width == sizeof(float) ? add_up<float>(terms, count) : add_up<double>(terms, count);
  ++sums_made;
  for (const auto& head : heads_)
    for (Op& op : head->ops) op.met = true;
}

/// Whether `from`'s head waits, for one rank after the other, for what stands behind `rank`'s.
bool Clique::waits_for_itself(int rank, int from, int steps) const {
  if (steps > size()) return false;
  for (const Op& op : heads_[std::size_t(from)]->ops) {
    const auto& other = heads_[std::size_t(op.peer)];
    if (op.met || other == nullptr || std::ranges::all_of(other->ops, &Op::met)) continue;
    if (op.does == Does::kSums && other->sums()) continue;  // both wait for others
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
