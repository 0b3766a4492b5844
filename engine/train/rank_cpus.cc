#include "train/rank_cpus.h"

#include "base/cgroup.h"
#include "base/cpus.h"

namespace atl {

std::vector<int> take_cpus(const Communicator& comm, int threads) {
  ServerShare share{0, 0, threads};
  for (Rank rank = 0; rank < comm.size(); ++rank) {
    if (!comm.same_server(rank, comm.rank())) continue;
    if (rank < comm.rank()) ++share.index;
    ++share.processes;
  }
  std::vector<int> cpus = own_cpus(allowed_cpus(), quota_cores(), share);
  if (cpus.size() > 1) keep_process_on(cpus);
  return cpus;
}

}  // namespace atl
