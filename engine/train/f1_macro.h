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

/// Of all ranks' `rows`: counts are summed, so that it is the same on any number of ranks. Collective.
std::optional<double> f1_macro(Context& ctx, Communicator& comm, const RankData& data, ConstMatrixView logits,
                               std::span<const VertexId> rows);

}  // namespace atl
