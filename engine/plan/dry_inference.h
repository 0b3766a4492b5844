// Memory and bytes of exact inference in row slabs (strategies/schedule/layerwise_inference.h), counted from
// the arcs.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "model/model.h"
#include "plan/batch_source.h"
#include "plan/batch_traffic.h"
#include "plan/dry_run.h"
#include "plan/traffic.h"
#include "sampler/owners.h"
#include "strategies/schedule/strategy.h"

namespace atl {

inline constexpr double kSizeBytes = 8;  // bytes of a rank's message about how many rows it wants
using SentInEvaluation = std::array<double, kEvaluationPartNames.size()>;  // bytes by EvaluationPart

/// The slabs of one rank.
struct RankSlabs {
  Index count = 0;
  Index most_rows = 0, most_sources = 0,
        most_others = 0;  // largest in any slab; sources: its rows and the rows that they read
  double rows = 0, sources = 0, arcs = 0;  // summed over the slabs
  std::vector<double> of_owner;            // (ranks) rows of each other rank that the slabs read
  std::vector<double> feature_bytes;       // (ranks) bytes of those rows' features
  double most_feature_bytes = 0;           // largest in any slab, of other ranks' rows
  struct Sizes {
    Index rows = 0, sources = 0;
  };
  std::vector<Sizes> looked_at;  // evenly spaced slabs, where there are more than BatchSource::most_slabs()
  double others() const;
  Sizes at(Index slab) const;
};

struct AllSlabs {
  std::vector<RankSlabs> by_rank;
  Index steps = 0;        // slabs that each rank goes through, some of them empty
  bool mapped = false;    // every rank reads all arcs, and requests no ids
  bool weighted = false;  // arcs have weights
  const RankSlabs& of(Rank rank) const { return by_rank[std::size_t(rank)]; }
};

/// What the first layers send and hold where features are held by columns. Made by the strategy
/// (StrategyPlan::slab_columns).
class SlabColumns {
 public:
  virtual ~SlabColumns() = default;
  /// Width of a slab's row (SlabOptions::width); 0: slabs are cut as where features are held by rows.
  virtual Index width(Rank rank) const = 0;
  /// Adds what the rank sends.
  virtual void send(Rank rank, const AllSlabs& slabs, std::vector<SentInEvaluation>& sent) const = 0;
  /// Adds what the rank holds. `features` has all columns.
  virtual void hold(Rank rank, const AllSlabs& slabs, const FeatureShape& features, DryRun& run) const = 0;
};

struct SlabPlanOptions {
  Index bytes = 0;  // of one slab
  bool mapped = false;
  FeatureShape features{};
  LayerRange layers{0, -1};                // SlabOptions::layers
  bool in_file = false;                    // the output lies in a file (SlabOptions::output)
  std::unique_ptr<SlabColumns> columns{};  // null: features are held by rows
};

class SlabPlan {
 public:
  /// Reads every rank's arcs once. `model` has all columns. The arguments outlive the plan.
  SlabPlan(const Dataset& dataset, const BatchSource& source, const Owners& owners, const Model& model,
           SlabPlanOptions options);

  /// Adds a rank's memory (outputs of two layers, the logits of its rows, one slab's rows) and what a pass
  /// sends.
  void add(Rank rank, DryRun& run) const;
  /// The bytes that a rank's pass sends, by part, without those for the metric.
  EvaluationParts parts(Rank rank) const;

 private:
  RankSlabs slabs_of(Rank rank) const;
  void count_sent();
  void send_structure(Rank rank, bool gathers);
  void send_rows(Rank rank, Index width, bool are_features);
  double& sent(Rank rank, EvaluationPart part) { return sent_[std::size_t(rank)][std::size_t(part)]; }

  const BatchSource& source_;
  const Owners& owners_;
  const Model& model_;
  const SlabPlanOptions options_;
  const FeatureMessages feature_messages_;
  AllSlabs slabs_;
  std::vector<SentInEvaluation> sent_;  // by rank
};

}  // namespace atl
