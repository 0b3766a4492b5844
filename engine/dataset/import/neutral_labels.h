// labels.npy of the neutral layout, in the forms in which tools write classes.
#pragma once

#include "dataset/format/npy.h"
#include "dataset/import/neutral_meta.h"
#include "dataset/writer.h"

namespace atl {

/// One class a vertex: [N] or [N, 1] of whole numbers (nan: unlabelled) or text. Several: [N, classes] of 0 and 1, which
/// are one class a vertex where every row is one-hot and meta.json doesn't say multilabel.
void add_labels(const NpyArray& labels, const NeutralMeta& meta, DatasetWriter& writer);

}  // namespace atl
