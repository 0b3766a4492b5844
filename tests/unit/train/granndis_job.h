// Jobs of strategy `granndis` over the small data set, for tests that run them on any number of servers and ranks.
#pragma once

#include <string>
#include <vector>

#include "train/small_job.h"

namespace atl {

/// `together`: ranks of a server. options: "{maxHop: 0, fanout: -1}".
inline Job granndis_job(const std::vector<std::string>& fields, int ranks, int together,
                        const std::string& options, const std::string& partitioner = "metis") {
  std::vector<std::string> all = fields;
  all.insert(all.end(), {"strategy.kind=granndis", "strategy.granndis=" + options,
                         "placement.ranks=" + std::to_string(ranks), "placement.partitioner=" + partitioner,
                         "placement.ranksPerServer=" + std::to_string(together)});
  return small_job(all);
}

}  // namespace atl
