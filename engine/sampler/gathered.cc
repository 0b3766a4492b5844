#include "sampler/gathered.h"

namespace atl {

GatheredBytes::GatheredBytes(Communicator& comm)
    : comm_(comm), begins_(std::size_t(comm.size()) + 1), sizes_(std::size_t(comm.size())) {}

Index GatheredBytes::begin(Index own) {
  const auto me = std::size_t(comm_.rank());
  sizes_[me] = own;
  sends_.clear(), receives_.clear();
  for (Rank r = 0; r < comm_.size(); ++r) {
    if (r == comm_.rank()) continue;
    sends_.push_back({r, reinterpret_cast<std::byte*>(&sizes_[me]), 8});
    receives_.push_back({r, reinterpret_cast<std::byte*>(&sizes_[std::size_t(r)]), 8});
  }
  comm_.exchange(Lane::kPrefetch, Traffic::kStructure, sends_, receives_).wait();
  for (std::size_t r = 0; r < sizes_.size(); ++r) begins_[r + 1] = begins_[r] + sizes_[r];
  return begins_.back();
}

void GatheredBytes::fill(std::byte* all) {
  sends_.clear(), receives_.clear();
  const auto part = [&](Rank r) -> Message {
    const Index first = begins_[std::size_t(r)], bytes = begins_[std::size_t(r) + 1] - first;
    return {r, bytes == 0 ? nullptr : all + first, bytes};
  };
  for (Rank r = 0; r < comm_.size(); ++r) {
    if (r == comm_.rank()) continue;
    Message own = part(comm_.rank());
    own.peer = r;
    sends_.push_back(own);
    receives_.push_back(part(r));
  }
  comm_.exchange(Lane::kPrefetch, Traffic::kStructure, sends_, receives_).wait();
}

void gathered_bytes(std::span<const VertexId> rows, Index width, const Owners& ranks,
                    FunctionRef<void(Rank from, Rank to, Index bytes)> sent) {
  std::vector<Index> own(std::size_t(ranks.ranks()), 0);
  for (const VertexId row : rows) own[std::size_t(ranks.owner_of(row))] += width;
  for (Rank from = 0; from < ranks.ranks(); ++from)
    for (Rank to = 0; to < ranks.ranks(); ++to)
      if (from != to) sent(from, to, 8 + own[std::size_t(from)]);
}

}  // namespace atl
