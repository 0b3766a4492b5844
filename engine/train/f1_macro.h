// The mean of the classes' F1 over all ranks' rows.
#pragma once

#include <optional>
#include <span>

#include "comm/communicator.h"
#include "tensor/kernels.h"
#include "train/rank_data.h"

namespace atl {

/// Mean of 2 · hits / (predicted + actual) over the classes that occur or are predicted; absent where none is.
std::optional<double> f1_macro(std::span<const ClassCounts> counts);

/// Of this rank's `rows`, into `counts` (classes), which are in the device's memory as all else is.
void count_by_class_of(Context& ctx, const RankData& data, ConstMatrixView logits,
                       std::span<const VertexId> rows, std::span<ClassCounts> counts);
/// Counts of the host's, so that what is made of them is the same on any number of ranks. Collective.
void sum_over_ranks(Communicator& comm, std::span<ClassCounts> counts);

}  // namespace atl
