// Strategy `gnnpipe`: layers divided over stages, chunks of the graph pipelined through them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"
#include "strategies/gnnpipe/info.h"
#include "strategies/schedule/layer_runner.h"

namespace atl {

// Which layers each stage of a pipeline has, what crosses between stages, and in which order an epoch goes
// over the chunks.

/// By stage: as the job says, or so that the slowest has as little work as possible. Layers that are computed
/// once are the first stage's and count nothing. Throws Error where there are more stages than layers.
std::vector<LayerRange> stage_ranges(const Job& job, const Model& model);

/// How many leading layers run over all rows before the first chunk: those that are computed once; or else
/// the first one, where it reads neighbours' features, or packed ones, which can't be sliced by rows.
int whole_layers(const Model& model, bool packed_features);
/// How many times as long an epoch takes because the other stages wait for the first stage's whole layer, by
/// the costs that stages are balanced with; 1: there is none, or nobody to wait.
double stall_of_whole_layer(const Job& job, const Model& model, bool packed_features);

/// A layer's output that a later stage reads beside its input (GCNII's h⁰): −1: there is none.
int tap_into(const Model& model, const LayerRange& stage);
/// The tap that goes on from `stage` to the next one.
int tap_out_of(const Model& model, const LayerRange& stage);

/// (chunks) all chunks in the order in which forward goes over them in `epoch`; backward goes the other way.
void put_chunk_order(std::span<int> order, bool shuffle, std::uint64_t seed, std::int64_t epoch);

}  // namespace atl
