// A rank's shares of what its server holds, one after the other: one for the whole run, one per epoch where
// copies are drawn again, or one per step where the server's vertices are trained in batches. Where there are
// several, a thread reads the next one while training uses the present one.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "train/labels.h"
#include "train/part_data.h"

namespace atl {

// What a rank trains on, where that isn't the part that inference sees: the training vertices' part in
// inductive training, or its share of what its server holds.

/// The address of `data` never changes.
struct TrainingPart {
  std::unique_ptr<PartData> data;
  Labels labels;               // of its own vertices, which are the part's first rows
  std::vector<VertexId> rows;  // those of its rows that count in the loss, ascending
  // As kernels read them:
  std::optional<DeviceCopies> copies;  // set by place() on another device than the host
  LabelView label_view;
  std::span<const VertexId> placed_rows;

  /// Fills in labels and rows. `trains`: training_marks().
  void read_labels(const Job& job, const Dataset& dataset, const DataUse& use, const VertexMarks& trains);
  /// Copies what kernels read to where those of ctx's device can read it; does nothing when called again.
  /// `stays`: as in PartData::place.
  void place(Context& ctx, bool stays);
};

/// What shares are read from; all of it must outlive the shares.
struct ShareSource {
  const Job& job;
  const Dataset& dataset;
  const PreparedGraph& prepared;
  ServerOptions server;   // in the first epoch
  const PartData& whole;  // the rank's part as it was divided
  DataUse use;
  bool halo_features;
};

class ServerParts {
 public:
  explicit ServerParts(const ShareSource& from);
  /// Waits for the thread.
  ~ServerParts();
  ServerParts(const ServerParts&) = delete;

  /// Number of optimiser steps per epoch, each with its own share.
  int batches() const { return std::max(1, int(batches_.size())); }
  bool are_many() const { return from_.server.redraws || batches() > 1; }
  /// Whether step `batch` (from 0) of `epoch` (from 1) trains on another share than the one taken last.
  bool is_other(Index epoch, int batch) const;
  /// The share for that step. Rethrows what reading it threw. `cpus`: where the thread that reads the next
  /// one runs; empty: anywhere.
  std::unique_ptr<TrainingPart> take(Index epoch, int batch, const std::vector<int>& cpus);

  const std::string& strategy() const;
  int batch() const { return taken_.batch; }  // of the share taken last
  /// How many vertices the loss counts in each batch, and how many vertices each batch has. Zeros except on
  /// the server's first rank.
  struct Sizes {
    std::vector<double> training, own;
  };
  Sizes sizes() const;
  double waited_seconds() const { return waited_seconds_; }  // for the thread that reads, so far

 private:
  struct Step {
    Index epoch = 0;
    int batch = 0;
    bool operator==(const Step&) const = default;
  };
  Step after(const Step& step) const;
  std::unique_ptr<TrainingPart> read(const Step& step) const;

  const ShareSource from_;
  Rank rank_;
  // rows of the prepared graph by batch; empty: the server trains on all its rows at once
  std::vector<std::vector<VertexId>> batches_;
  Step taken_, next_;  // next_: the one that is being read, or was read
  std::future<std::unique_ptr<TrainingPart>> reading_;
  double waited_seconds_ = 0;
};

}  // namespace atl
