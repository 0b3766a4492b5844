#include "comm/rank_group.h"

#include <algorithm>

#include "comm/communicator.h"

namespace atl {

RankGroup::RankGroup(const Communicator& comm, std::vector<Rank> members)
    : members_(std::move(members)), size_(int(members_.size())), place_(comm.rank()) {
  if (everyone()) {
    size_ = comm.size();
    return;
  }
  const auto mine = std::ranges::find(members_, comm.rank());
  ATOLL_CHECK(mine != members_.end() && std::ranges::is_sorted(members_) && members_.front() >= 0 &&
                  members_.back() < comm.size(),
              "rank {} in a group of {} of {}", comm.rank(), size_, comm.size());
  place_ = Rank(mine - members_.begin());
}

}  // namespace atl
