// The results of a finished run, from the best epoch's weights: model.safetensors, predictions.npy and
// embeddings.npy in its folder, and in the record the test metric, the confusion matrix and the figures of
// every rank.
#pragma once

#include "partition/prepared_graph.h"
#include "train/session.h"
#include "train/trainer.h"

namespace atl {

/// Collective. `phases` are this rank's sums over the run. Fills in the record's last block on every rank.
void write_results(Context& ctx, Communicator& comm, const SessionOptions& options, const RankData& data,
                   const PreparedGraph& prepared, const Dataset& dataset, Trainer& trainer,
                   const std::vector<Phase>& phases, RunRecord& record);

/// From the present weights, writes embeddings.npy, the last layer's rows, with task linkPrediction.
/// Otherwise writes predictions.npy, embeddings.npy, probabilities.npy where asked for and, where original
/// ids aren't row numbers, vertex_ids.npy. Removes those of an earlier call that aren't written now. Returns
/// the logits (owned, classes). Collective.
ConstMatrixView write_predictions(Context& ctx, Communicator& comm, const Job& job, const RankData& data,
                                  const PreparedGraph& prepared, const Dataset& dataset, Schedule& inference,
                                  const std::filesystem::path& output, bool probabilities);

/// Rank 0: writes report.html.
void write_report_of(const SessionOptions& options, const RunRecord& record);

/// Sends every rank's rows (owned, columns) to rank 0, one rank after the other. There `put` gets them with
/// the data set's ids of the rows, ids_of(rank). Rank 0 holds one other rank's rows at a time. Collective.
void collect_rows(Communicator& comm, FunctionRef<std::span<const VertexId>(Rank rank)> ids_of,
                  ConstMatrixView mine,
                  FunctionRef<void(std::span<const VertexId> ids, ConstMatrixView rows)> put);

}  // namespace atl
