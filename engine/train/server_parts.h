// A rank's shares of what its server holds, one after the other: one for the whole run, one an epoch where
// copies are drawn anew, or one a step where the server's vertices are trained in batches. Where there are
// several, a thread reads the next one while this one trains.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "train/labels.h"
#include "train/part_data.h"

namespace atl {

// What a rank trains on where that isn't the part that inference sees: the training vertices' in inductive
// training, or its share of what its server holds.

/// `data` stays where it is.
struct TrainingPart {
  std::unique_ptr<PartData> data;
  Labels labels;               // of its own vertices, which are its first rows
  std::vector<VertexId> rows;  // of them those in the loss, ascending
  // The same, as kernels read them:
  std::optional<DeviceCopies> copies;  // after place() on another device than the host
  LabelView label_view;
  std::span<const VertexId> placed_rows;

  /// Fills in labels and rows. `trains`: training_marks().
  void read_labels(const Job& job, const Dataset& dataset, const DataUse& use,
                   std::span<const std::uint8_t> trains);
  /// Puts what kernels read where those of ctx's device can. Again, it does nothing. `stays`: as
  /// PartData::place.
  void place(Context& ctx, bool stays);
};

/// What shares are read from; all outlives the shares.
struct ShareSource {
  const Job& job;
  const Dataset& dataset;
  const PreparedGraph& prepared;
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

  /// Optimiser steps of an epoch, each with a share of its own.
  int batches() const { return std::max(1, int(batches_.size())); }
  bool are_many() const { return redraws_ || batches() > 1; }
  /// Whether step `batch` (from 0) of `epoch` (from 1) trains on another share than the one that was taken
  /// last.
  bool is_other(Index epoch, int batch) const;
  /// The share of that step. Rethrows what reading it threw. `cpus`: that the thread which reads the next one
  /// runs on; empty: any.
  std::unique_ptr<TrainingPart> take(Index epoch, int batch, const std::vector<int>& cpus);

  const std::string& strategy() const { return from_.job.strategy.kind; }
  int batch() const { return taken_.batch; }  // of the share that was taken last
  /// Of all batches, on the server's first rank; zeros on others: vertices that the loss counts, and
  /// vertices.
  struct Sizes {
    std::vector<double> training, own;
  };
  Sizes sizes() const;
  double waited_seconds() const { return waited_seconds_; }  // for the thread, so far

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
  bool redraws_;
  // rows of the prepared graph; empty: the server trains on all at once
  std::vector<std::vector<VertexId>> batches_;
  Step taken_, next_;  // next_: that is being read, or has been
  std::future<std::unique_ptr<TrainingPart>> reading_;
  double waited_seconds_ = 0;
};

}  // namespace atl
