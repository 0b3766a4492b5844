// What exact inference in row slabs will hold and send (strategy/slab_inference.h), counted from the arcs.
#pragma once

#include "model/model.h"
#include "plan/batch_source.h"
#include "plan/dry_run.h"
#include "sampler/owners.h"

namespace atl {

/// Adds a rank's, in slabs of so many bytes: outputs of two layers and the logits of its rows, one slab's rows, and the bytes of an evaluation.
void plan_slabs(const BatchSource& source, const Owners& owners, Rank rank, const Model& model, Index bytes,
                DryRun& run);

}  // namespace atl
