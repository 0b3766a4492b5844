#include "model/row_start.h"

namespace atl {

RowStart::RowStart(Options options, int first_parameter, int first_saved)
    : options_(options), norm_(options.norm, options.cols, first_parameter, first_saved) {}

void RowStart::declare(std::vector<ParameterSpec>& parameters) const {
  norm_.declare(parameters);
}
void RowStart::declare(std::vector<SavedSpec>& saved) const {
  norm_.declare(saved);
}

void RowStart::prepare(Verbs& verbs, const LayerWeights& weights, ConstMatrixView h, Saved& saved) const {
  norm_.statistics(verbs, weights, h, saved);
}

Epilogue RowStart::epilogue(Verbs& verbs, const LayerWeights& weights, Saved& saved,
                            std::span<const VertexId> ids) const {
  Epilogue e;
  norm_.enter(weights, saved, e);
  if (options_.relu) e.activation = Activation::kRelu;
  e.dropout = verbs.dropout(options_.dropout, Purpose::kDropout, options_.layer, ids);
  return e;
}

RowStart::Started RowStart::forward(Verbs& verbs, const LayerWeights& weights, Saved& saved,
                                    ConstMatrixView h, std::span<const VertexId> ids,
                                    const char* name) const {
  const Epilogue e = epilogue(verbs, weights, saved, ids);
  if (!norm_ && !options_.relu && !e.dropout) return {h, h, ids};
  Context& ctx = verbs.context();
  MatrixView r = ctx.workspace->matrix(name, h.rows, h.cols, ctx.values);
  apply(ctx, e, h, r);
  return {h, r, ids};
}

RowStart::Sums RowStart::begin_backward(Verbs& verbs) const {
  return norm_.batch() ? zeroed_sums(verbs.context(), "start.sums", 2 * options_.cols) : Sums();
}

void RowStart::backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, const Started& started,
                        MatrixView d, Sums sums) const {
  Context& ctx = verbs.context();
  const Epilogue e = epilogue(verbs, weights, saved, started.ids);
  if (!norm_ && !options_.relu && !e.dropout) return;
  EpilogueGradient gradient;
  norm_.enter(weights, gradient);
  Sums none;
  if (norm_.batch()) {
    column_sums_backward(ctx, e, started.raw, started.rows, d, sums.data());
    none = zeroed_sums(ctx, "start.no_sums", 2 * options_.cols);
  }
  apply_backward(ctx, e, started.raw, started.rows, d, gradient, none, 1);
}

void RowStart::end_backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView h,
                            Sums sums, MatrixView d) const {
  if (!norm_.batch()) return;
  norm_.statistics_backward(verbs, weights, h, saved, sums, d);
}

}  // namespace atl
