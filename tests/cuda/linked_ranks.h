// Ranks as threads on emulated GPUs, linked by the emulated NCCL where each has a GPU of its own.
#pragma once

#include "comm/linked_transport.h"
#include "comm/ranks.h"
#include "comm/transports.h"
#include "emulated.h"
#include "tensor/backend.h"

namespace atl::test {

/// Rank r is on GPU r modulo `gpus`. `why_staged`, if given, has one element per rank.
inline std::vector<std::unique_ptr<Transport>> linked_group(int ranks, int gpus,
                                                            const LinkOptions& options = {},
                                                            std::vector<std::string>* why_staged = nullptr,
                                                            std::vector<std::string> hosts = {}) {
  emulated::set_gpus(gpus);
  std::vector<std::unique_ptr<Transport>> transports;
  for (auto& host : make_local_group(ranks, std::move(hosts))) {
    const int rank = int(transports.size());
    LinkOptions own = options;
    own.rank_here = rank;
    if (why_staged != nullptr) own.why_staged = &(*why_staged)[std::size_t(rank)];
    auto staged = make_staged_transport(std::move(host), [rank] { return backend().open(rank).stream; });
    transports.push_back(make_linked_transport(std::move(staged), own));
  }
  return transports;
}

}  // namespace atl::test
