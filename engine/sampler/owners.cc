#include "sampler/owners.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace atl {

Owners::Owners(std::span<const Index> part_offsets, int ranks)
    : part_begin_(part_offsets.begin(), part_offsets.end()) {
  ATOLL_CHECK(!part_offsets.empty() && ranks >= 1, "{} offsets, {} ranks", part_offsets.size(), ranks);
  const auto parts = Index(part_offsets.size()) - 1;
  if (parts < ranks)
    fail(
        "the graph is prepared in {} parts for {} ranks; prepare it in at least {} parts, or use fewer ranks",
        parts, ranks, ranks);
  for (Rank rank = 0; rank <= ranks; ++rank) {
    first_part_.push_back(int(parts * rank / ranks));
    first_row_.push_back(part_offsets[std::size_t(first_part_.back())]);
  }
}

Owners::Owners(std::span<const Index> part_offsets, const PartRanks& ranks)
    : Owners(part_offsets, int(part_offsets.size()) - 1) {
  order_ = ranks;
}

Rank Owners::owner_of(VertexId row) const {
  const auto place = std::upper_bound(first_row_.begin(), first_row_.end(), Index(row)) - first_row_.begin();
  return order_.rank_of(int(place) - 1);
}

int Owners::part_of(VertexId row) const {
  return int(std::upper_bound(part_begin_.begin(), part_begin_.end(), Index(row)) - part_begin_.begin()) - 1;
}

RowRequests::RowRequests(const Owners& owners, Communicator& comm, Lane lane)
    : owners_(owners),
      comm_(comm),
      lane_(lane),
      wanted_begin_(std::size_t(comm.size()) + 1),
      asked_begin_(std::size_t(comm.size()) + 1),
      next_(std::size_t(comm.size())),
      wanted_size_(std::size_t(comm.size())),
      asked_size_(std::size_t(comm.size())) {
  ATOLL_CHECK(owners.ranks() == comm.size(), "{} owners, {} ranks", owners.ranks(), comm.size());
}

void RowRequests::ask(Traffic purpose, std::span<const VertexId> rows) {
  group(rows);
  swap_sizes(purpose);
  const Answers wishes{wanted_.data(), wanted_begin_, asked_.take(asked_begin_.back()).data(), asked_begin_,
                       Index(sizeof(VertexId))};
  answer(purpose, {&wishes, 1});
}

/// Counting sort by owner.
void RowRequests::group(std::span<const VertexId> rows) {
  const auto count = Index(rows.size());
  owner_of_.take(count), places_.take(count), wanted_.take(count);
  std::ranges::fill(wanted_size_, 0);
  for (Index i = 0; i < count; ++i) {
    owner_of_[i] = owners_.owner_of(rows[std::size_t(i)]);
    ++wanted_size_[std::size_t(owner_of_[i])];
  }
  wanted_begin_[0] = 0;
  for (std::size_t r = 0; r < next_.size(); ++r) {
    next_[r] = wanted_begin_[r];
    wanted_begin_[r + 1] = wanted_begin_[r] + wanted_size_[r];
  }
  for (Index i = 0; i < count; ++i) {
    const Index at = next_[std::size_t(owner_of_[i])]++;
    places_[at] = VertexId(i);
    wanted_[at] = rows[std::size_t(i)];
  }
}

void RowRequests::swap_sizes(Traffic purpose) {
  sends_.clear(), receives_.clear();
  for (Rank r = 0; r < comm_.size(); ++r) {
    if (r == comm_.rank()) continue;
    sends_.push_back({r, reinterpret_cast<std::byte*>(&wanted_size_[std::size_t(r)]), 8});
    receives_.push_back({r, reinterpret_cast<std::byte*>(&asked_size_[std::size_t(r)]), 8});
  }
  swap(purpose);
  asked_size_[std::size_t(comm_.rank())] = wanted_size_[std::size_t(comm_.rank())];
  asked_begin_[0] = 0;
  for (std::size_t r = 0; r < asked_size_.size(); ++r) asked_begin_[r + 1] = asked_begin_[r] + asked_size_[r];
}

void RowRequests::answer(Traffic purpose, std::span<const Answers> arrays) {
  sends_.clear(), receives_.clear();
  const auto part = [](const void* from, std::span<const Index> begin, Rank rank, Index width) -> Message {
    const Index first = begin[std::size_t(rank)], count = begin[std::size_t(rank) + 1] - first;
    if (count == 0) return {rank, nullptr, 0};
    return {rank, static_cast<std::byte*>(const_cast<void*>(from)) + first * width, count * width};
  };
  for (const Answers& array : arrays)
    for (Rank r = 0; r < comm_.size(); ++r) {
      const Message send = part(array.out, array.out_begin, r, array.width),
                    receive = part(array.in, array.in_begin, r, array.width);
      if (r != comm_.rank()) {
        sends_.push_back(send);
        receives_.push_back(receive);
      } else if (send.bytes > 0) {
        std::memcpy(receive.data, send.data, std::size_t(send.bytes));
      }
    }
  swap(purpose);
}

void RowRequests::swap(Traffic purpose) {
  comm_.exchange(lane_, purpose, sends_, receives_).wait();
}

Index RowRequests::reallocations() const {
  return places_.reallocations() + wanted_.reallocations() + asked_.reallocations() +
         owner_of_.reallocations();
}

}  // namespace atl
