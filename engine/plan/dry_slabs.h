// What exact inference in row slabs will hold and send (strategy/slab_inference.h), counted from the arcs.
#pragma once

#include <optional>

#include "model/model.h"
#include "plan/batch_source.h"
#include "plan/dry_run.h"
#include "sampler/column_share.h"
#include "sampler/owners.h"

namespace atl {

struct SlabPlanOptions {
  Index bytes = 0;                       // of a slab
  std::optional<ColumnShare> columns{};  // by which features are held; none: by rows
};

/// Adds a rank's: outputs of two layers and the logits of its rows, one slab's rows, and the bytes of an evaluation. model: of all columns.
void plan_slabs(const BatchSource& source, const Owners& owners, Rank rank, const Model& model,
                const SlabPlanOptions& options, DryRun& run);

}  // namespace atl
