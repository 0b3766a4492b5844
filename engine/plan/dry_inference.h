// What exact inference in row slabs will hold and send (strategies/schedule/layerwise_inference.h), counted from the arcs.
#pragma once

#include <optional>
#include <vector>

#include "model/model.h"
#include "plan/batch_source.h"
#include "plan/batch_traffic.h"
#include "plan/dry_run.h"
#include "plan/metric_traffic.h"
#include "sampler/column_share.h"
#include "sampler/owners.h"
#include "strategies/schedule/strategy.h"

namespace atl {

struct SlabPlanOptions {
  Index bytes = 0;      // of a slab
  bool mapped = false;  // every rank reads all arcs, and asks nobody for ids
  FeatureShape features{};
  LayerRange layers{0, -1};  // SlabOptions::layers
  std::vector<std::optional<ColumnShare>>
      columns{};  // (ranks) by which features are held; none: by rows. Of all ranks, or of none
};

class SlabPlan {
 public:
  /// Looks at every rank's arcs once. model: of all columns. All outlive it.
  SlabPlan(const Dataset& dataset, const BatchSource& source, const Owners& owners, const Model& model,
           SlabPlanOptions options);

  /// Adds a rank's: outputs of two layers and the logits of its rows, one slab's rows, and what a pass sends.
  void add(Rank rank, DryRun& run) const;
  /// Of what a rank's pass sends; without a metric.
  EvaluationParts parts(Rank rank) const;

 private:
  using Sent = std::array<double, kEvaluationPartNames.size()>;
  /// Of a rank's slabs.
  struct Slabs {
    Index count = 0;
    Index most_rows = 0, most_sources = 0, most_others = 0;  // of any; sources: its rows and what they read
    double rows = 0, sources = 0, arcs = 0;                  // of all, each slab by itself
    std::vector<double> of_owner;                            // (ranks) rows of others that they read
    std::vector<double> feature_bytes;                       // (ranks) of these rows' features
    double most_feature_bytes = 0;                           // of others' rows, of any slab
    struct Sizes {
      Index rows = 0, sources = 0;
    };
    std::vector<Sizes> looked_at;  // evenly spaced ones, where there are more than the source lets us look at
    double others() const;
    Sizes at(Index slab) const;
  };
  Slabs slabs_of(Rank rank) const;
  bool by_columns() const;
  void count_sent();
  void send_structure(Rank rank, bool gathers);
  void send_rows(Rank rank, Index width, bool are_features);
  void send_columns(Rank rank);
  void send_pushes(Rank rank);
  void send_scores(Rank rank);
  void send_whole_rows(Rank rank);
  void hold_columns(Rank rank, DryRun& run) const;
  const std::optional<ColumnShare>& columns(Rank rank) const { return options_.columns[std::size_t(rank)]; }
  double& sent(Rank rank, EvaluationPart part) { return sent_[std::size_t(rank)][std::size_t(part)]; }
  const Slabs& of(Rank rank) const { return slabs_[std::size_t(rank)]; }

  const BatchSource& source_;
  const Owners& owners_;
  const Model& model_;
  const SlabPlanOptions options_;
  const CrossingRows crossing_;
  std::vector<Slabs> slabs_;  // by rank
  Index steps_ = 0;           // slabs that each rank goes through, some of them empty
  std::vector<Sent> sent_;    // by rank
};

}  // namespace atl
