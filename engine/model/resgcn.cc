// ResGCN+ (Li et al. 2020, "DeeperGCN", its pre-activation residual connections): a linear encoder, then
// blocks
//   h ← h + conv(dropout(ReLU(norm(h)))),
// where the first convolution gets h itself. Norm, ReLU, dropout and a linear layer follow the last block.
// conv is SAGE-mean (GraNNDis' variant) or softmax aggregation (GENConv, DeeperGCN's own).
#include "model/kinds.h"
#include "model/residual_block.h"

namespace atl {
namespace {

Model make_resgcn(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const bool softmax = spec.options.text("aggregator") == "softmax";
  const auto temperature = Real(spec.options.number("temperature"));
  Model model;
  model.layers.push_back(make_dense(dense_on_features(spec.hidden, training, input)));
  for (int l = 1; l <= spec.layers; ++l) {
    const bool bare = l == 1;
    const RowStart start({spec.hidden, bare ? Norm::kNone : spec.norm, !bare, bare ? 0 : training.dropout, l},
                         2, softmax ? 3 : 1);
    model.layers.push_back(softmax ? make_softmax_block(spec.hidden, start, temperature)
                                   : make_mean_block(spec.hidden, start));
  }
  const RowStart end({spec.hidden, spec.norm, true, training.dropout, spec.layers + 1}, 2, 0);
  model.layers.push_back(make_classifier(spec.hidden, input.classes, end));
  return model;
}

}  // namespace

/// A softmax over arcs needs no normalisation. kRemove is for older runs, which left out the data's
/// self-loops (job/load.h).
ModelKind resgcn_kind() {
  return {"resgcn", make_resgcn, [](const Options& options) -> GraphNeeds {
            const bool softmax = options.text("aggregator") == "softmax";
            return {softmax ? Normalisation::kSum : Normalisation::kMean, SelfLoops::kRemove};
          }};
}

}  // namespace atl
