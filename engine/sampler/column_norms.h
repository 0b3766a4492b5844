// How much each vertex is read by the whole graph: ‖Â[:, u]‖², by which FastGCN and GraphSAINT's vertex sampler draw (Â: the adjacency
// as the model normalises it).
#pragma once

#include "sampler/step_sets.h"

namespace atl {

/// (owned) of the rank's rows. Collective.
std::vector<double> column_norms(const SetInput& in);

/// (owned) the factors of the rank's rows as sources, squared; empty: all 1.
std::vector<double> squared_source_factors(const SetInput& in);

/// An arc's part in its column's norm, but for the source's factor.
double squared_entry(Normalisation normalisation, double weight, double degree);

}  // namespace atl
