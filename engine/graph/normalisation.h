// Degrees and the factors that a normalisation makes of them.
#pragma once

#include "graph/block.h"

namespace atl {

/// Weight of a row's arcs: their number, or the sum of their weights, which data sets don't hold below 0
/// (dataset/writer.h).
double degree_of(const CsrView& a, Index row);

/// Factor of a destination (source) row with this degree; rows without arcs get 0.
Real dst_factor(Normalisation normalisation, double degree);
Real src_factor(Normalisation normalisation, double degree);

}  // namespace atl
