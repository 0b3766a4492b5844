// How much of the mapped files of a data set and its prepared graph a rank touches: pages of files count as
// the process's memory for as long as the files are mapped.
#pragma once

#include <string>

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"

namespace atl {

/// Bytes resident after the rank has read its part. Each access to a file brings in 64 KiB around it (Linux'
/// fault-around), so rows scattered over a file bring in all of it. Walks the rank's row numbers and none of
/// the files' contents. halo_features: as in PartData.
Index mapped_bytes(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   bool halo_features);

/// bytes · r / rows, rounded down: where row r begins in a file of `rows` rows. Exact even where the product
/// exceeds an Index.
Index row_begin(Index bytes, Index rows, Index r);

}  // namespace atl
