#include "strategies/schedule/constant_rows.h"

#include "tensor/kernels.h"

namespace atl {
namespace {

constexpr RowRoute kSetupRoute{Lane::kBulk, Traffic::kSetup, Traffic::kSetup, Traffic::kSetup};

}  // namespace

ConstantRows::ConstantRows(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                           const BatchGraph& graph, const SlabOptions& options)
    : ctx_(ctx), copies_(ctx) {
  const int prefix = model.constant_prefix();
  for (int l = 0; l < int(model.layers.size()); ++l)
    ATOLL_CHECK(l < prefix || !model.spec(l).gathers, "layer {} reads neighbours in every step", l);
  SlabOptions of_constant = options;
  of_constant.layers = {0, prefix}, of_constant.route = kSetupRoute;
  LayerwiseInference inference(ctx, comm, model, parameters, graph, of_constant);
  inference.infer();
  all_ = inference.take();
}

ConstMatrixView ConstantRows::of(std::span<const VertexId> rows) {
  copies_.restart();
  if (chosen_.grow(Index(rows.size()), all_.cols(), ctx_.device, true)) ++reallocations_;
  gather_rows(ctx_, all_, copies_.of(rows).data(), chosen_);
  return chosen_;
}

}  // namespace atl
