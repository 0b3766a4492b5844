// What a finished run leaves in its folder, from the best epoch's weights: model.safetensors,
// predictions.npy, embeddings.npy and, in the record, test metric, confusion matrix and the figures of every
// rank.
#pragma once

#include "partition/prepared_graph.h"
#include "train/session.h"
#include "train/trainer.h"

namespace atl {

/// Collective. `phases` are this rank's sums over the run; record's last block is filled in on every rank.
void write_results(Context& ctx, Communicator& comm, const SessionOptions& options, const RankData& data,
                   const PreparedGraph& prepared, const Dataset& dataset, Trainer& trainer,
                   const std::vector<Phase>& phases, RunRecord& record);

/// With task linkPrediction embeddings.npy, the last layer's rows. Else predictions.npy, embeddings.npy,
/// probabilities.npy where asked for and, where original ids aren't row numbers, vertex_ids.npy, from the
/// present weights; those of an earlier call that this one has none of are removed. Returns the logits
/// (owned, classes). Collective.
ConstMatrixView write_predictions(Context& ctx, Communicator& comm, const Job& job, const RankData& data,
                                  const PreparedGraph& prepared, const Dataset& dataset, Schedule& inference,
                                  const std::filesystem::path& output, bool probabilities);

/// Rank 0: report.html.
void write_report_of(const SessionOptions& options, const RunRecord& record);

/// Collective: every rank's rows (owned, columns) to rank 0, one rank after the other, each given to `put`
/// there with the data set's ids of its rows, ids_of(rank). Rank 0 holds one other rank's rows at a time.
void collect_rows(Communicator& comm, FunctionRef<std::span<const VertexId>(Rank rank)> ids_of,
                  ConstMatrixView mine,
                  FunctionRef<void(std::span<const VertexId> ids, ConstMatrixView rows)> put);

}  // namespace atl
