// Strategy `gnnpipe`: layers are divided into stages, and chunks of the graph are pipelined through them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"
#include "strategies/gnnpipe/info.h"
#include "strategies/schedule/layer_runner.h"

namespace atl {

// Which layers each stage of a pipeline has, what stages send each other, and the order of an epoch's chunks.

/// By stage: as the job says, or such that the slowest stage has as little work as possible. Layers that are
/// computed once belong to the first stage and cost nothing. Throws Error where there are more stages than
/// layers.
std::vector<LayerRange> stage_ranges(const Job& job, const Model& model);

/// How many leading layers run over all rows before the first chunk: those that are computed once, or else
/// the first one if it reads neighbours' features, or packed features, which can't be sliced by rows.
int whole_layers(const Model& model, bool packed_features);
/// The factor by which an epoch takes longer because other stages wait for the first stage's whole layer, by
/// the costs that stages are balanced with; 1: there is no such layer, or no other stage.
double stall_of_whole_layer(const Job& job, const Model& model, bool packed_features);

/// The layer whose output a later stage reads beside its input (GCNII's h⁰); −1: none.
int tap_into(const Model& model, const LayerRange& stage);
/// The tap that goes on from `stage` to the next one.
int tap_out_of(const Model& model, const LayerRange& stage);

/// (chunks) All chunks in the order in which forward takes them in `epoch`; backward takes them in reverse.
void put_chunk_order(std::span<int> order, bool shuffle, std::uint64_t seed, std::int64_t epoch);

}  // namespace atl
