// How much of the mapped files of a data set and its prepared graph a rank touches: pages of files count as
// the process's memory for as long as the files are mapped.
#pragma once

#include <string>

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"

namespace atl {

/// Bytes resident after the rank has read its part. Files bring in 64 KiB around each access (Linux'
/// fault-around), so rows scattered over a file bring in all of it. Walks the rank's row numbers, none of the
/// files' contents. halo_features: as in PartData.
Index mapped_bytes(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   bool halo_features);

/// Where row r of `rows` begins in a file of so many bytes: bytes · r / rows, rounded down, also where the
/// product is more than an Index holds.
Index row_begin(Index bytes, Index rows, Index r);

}  // namespace atl
