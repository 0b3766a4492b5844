// The results of a finished run, from the best epoch's weights: model.safetensors, predictions.npy and
// embeddings.npy in its folder, and in the record the test metric, the confusion matrix and the figures of
// every rank.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"
#include "telemetry/record.h"
#include "train/checkpoint/safetensors.h"
#include "train/session.h"
#include "train/trainer.h"

namespace atl {

/// Collective. `phases` are this rank's sums over the run. Fills in the record's last block on every rank.
void write_results(Context& ctx, Communicator& comm, const SessionOptions& options, const RankData& data,
                   const PreparedGraph& prepared, const Dataset& dataset, Trainer& trainer,
                   const std::vector<Phase>& phases, RunRecord& record);

/// Computes results with the present weights. With task linkPrediction writes the last layer's rows to
/// embeddings.npy. Otherwise writes predictions.npy, embeddings.npy, probabilities.npy where asked for and,
/// where original ids aren't row numbers, vertex_ids.npy. Removes those of an earlier call that aren't
/// written now. Returns the logits (owned, classes). Collective.
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

// A run that has finished isn't trained again. This recognises it, and says so.

/// The record of the run in `output` where it has finished as this job on this data set: its files are
/// written, and no epoch is left to train. None where its record can't be read.
std::optional<RunRecord> finished_run(const std::filesystem::path& output, const Job& job,
                                      const std::string& dataset_checksum);

/// One line: what was done, what the job asks for, and how to train more.
std::string finished_words(const RunRecord& run, const Job& job);

// What a model's file says of the data set that it was trained on, and whether its predictions on another one
// mean anything.

struct TrainedOn {
  std::string name;  // of the data set
  Index features = 0, classes = 0;
  std::string features_made;  // by their import, as in meta.json's transforms; "" = nothing
  bool packed = false;  // the model reads features as they are stored (kept_form), which changes its layers
  bool symmetric = false;  // every arc has its reverse
};

TrainedOn trained_on(const DatasetMeta& dataset, const Job& job);

/// put() enters it into the metadata of model.safetensors, read_trained_on() reads it from there. The latter
/// throws Error where the file doesn't have it.
void put(const TrainedOn& trained, Metadata& metadata);
TrainedOn read_trained_on(const SafetensorsFile& model);

/// One line for each way in which `other` differs from the data that the model was trained on, where it can
/// be read. Throws Error where it has other features.
std::vector<std::string> differences(const TrainedOn& trained, const TrainedOn& other);

}  // namespace atl
