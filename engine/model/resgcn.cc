// ResGCN+ (Li et al. 2020, "DeeperGCN"): a linear encoder, then pre-norm residual blocks
//   h ← h + conv(dropout(ReLU(norm(h)))), the first convolution bare, and norm, ReLU, dropout, linear at the end.
// conv is SAGE-mean (GraNNDis' variant) or softmax aggregation (GENConv, DeeperGCN's own).
#include "model/residual_block.h"
#include "model/stack.h"

namespace atl {
namespace {

std::unique_ptr<Layer> make_encoder(const ModelSpec& spec, const TrainingSpec& training,
                                    const ModelInput& input) {
  LayerOptions encoder;
  encoder.in = input.features;
  encoder.out = spec.hidden;
  encoder.sparse_input = input.sparse_features;
  encoder.dropout = training.input_dropout.rate;
  encoder.dropout_purpose = Purpose::kInputDropout;
  encoder.decay = encoder.finish.decay = DecayGroup::kDense;
  return make_dense(encoder);
}

}  // namespace

Model make_resgcn(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input) {
  const bool softmax = spec.options.text("aggregator") == "softmax";
  const auto temperature = Real(spec.options.number("temperature"));
  Model model;
  model.layers.push_back(make_encoder(spec, training, input));
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

}  // namespace atl
