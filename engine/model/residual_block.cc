#include "model/residual_block.h"

namespace atl {

std::vector<ParameterSpec> ResidualBlock::declare(Index weight_rows) const {
  std::vector<ParameterSpec> all{
      {"weight", weight_rows, hidden_, Init::kGlorot, DecayGroup::kConvolution, hidden_, hidden_},
      {"bias", 1, hidden_, Init::kZero, DecayGroup::kConvolution}};
  start_.declare(all);
  return all;
}

RowStart::Started ResidualBlock::started_self(Verbs& verbs, const LayerWeights& w, const LayerInput& input,
                                              Saved& saved) const {
  return start_.forward(verbs, w, saved, input.self.dense, verbs.destination_ids(), "resgcn.self");
}

RowStart::Started ResidualBlock::started(Verbs& verbs, const LayerWeights& w, Saved& saved, const Source& s,
                                         const Started& self) const {
  const ConstMatrixView rows = s.rows.dense;
  if (rows.data == self.raw.data && rows.rows == self.raw.rows) return self;
  return start_.forward(verbs, w, saved, rows, s.block->src_ids, "resgcn.rows");
}

Epilogue ResidualBlock::ending(const LayerWeights& w, const LayerInput& input) const {
  Epilogue e;
  e.bias = w.value(1).data;
  e.residual = input.self.dense;
  return e;
}

void ResidualBlock::finish_backward(Verbs& verbs, const LayerWeights& w, Saved& saved, const Started& self,
                                    RowStart::Sums sums, MatrixView d_self, ConstMatrixView d_out,
                                    const LayerGradient& gradient) const {
  Context& ctx = verbs.context();
  start_.backward(verbs, w, saved, self, d_self, sums);
  axpby(ctx, 1, d_self, 1, gradient.self);
  start_.end_backward(verbs, w, saved, self.raw, sums, gradient.self);
  axpby(ctx, 1, d_out, 1, gradient.self);
}

}  // namespace atl
