// Which rank trains which part: parts that talk most share a server. Servers are moved over nodes by the operator, which
// costs them nothing; this decides who is in them, before that, from the exact cut alone. So the answer is the same on one
// machine and on a cluster, and in every attempt of a job wherever its pods stand: the same file gives the same bits.
//
// Dividing parts among servers so that most bytes stay inside is graph partitioning once more, of a graph of a few thousand
// vertices at most. From two first answers, the partitioner's own order and servers filled one after the other with whoever
// talks most to those inside, pairs change places while that helps; the better one is taken, the partitioner's where they
// are equal.
#pragma once

#include <span>
#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "job/layout.h"
#include "partition/prepared_graph.h"

namespace atl {

/// (ranks) the part of each rank. Each the part of its own number where ranks aren't alike or none share a server.
std::vector<int> part_order(const Layout& layout, std::span<const PairBytes> between_parts);

/// What placement needs to know of a job's parts.
struct RankTraffic {
  std::vector<int> parts;        // (ranks) the part that each trains
  std::vector<PairBytes> flows;  // bytes an epoch, between ranks that train those parts
};

RankTraffic rank_traffic(const Job& job, const Dataset& dataset, const PreparedGraph& prepared);

}  // namespace atl
