// Exact inference in a pipeline: a stage does what can be done, chunk by chunk (chunk_flow.h).
#include "strategies/gnnpipe/pipeline.h"

namespace atl {

void Pipeline::exchange_input(int l, int chunk) {
  if (l < inside_.end && layer(l).spec().gathers) pass_->exchange(l, chunk);
}

void Pipeline::infer_layer(int l, int chunk) {
  pass_->at_chunk(chunk);
  runner_.forward(l, *pass_, parameters_.present(), memories_->of(chunk), input(chunk));
  exchange_input(l + 1, chunk);
}

ConstMatrixView Pipeline::infer() {
  place_outputs();
  pass_->begin_inference();
  run_whole_layers(0, false);
  if (!is_first()) expect_rows(Traffic::kEvaluation, inferred_);
  std::size_t arrived = 0;
  for (const auto& [kind, chunk, layer] : flow_) {
    switch (kind) {
      case FlowStep::Kind::kArrive:
        if (!is_first()) from_before_.wait(arrived++);
        exchange_input(inside_.first, chunk);
        break;
      case FlowStep::Kind::kRun:
        infer_layer(inside_.first + layer, chunk);
        break;
      case FlowStep::Kind::kLeave:
        if (!is_last())
          to_behind_.send(Traffic::kEvaluation, leaving(chunk), part_.chunks[std::size_t(chunk)].begin);
    }
  }
  to_behind_.finish();
  tell(Work::kNone);
  const MatrixView logits = rows_->present(layers_.end);
  return is_last() ? logits : MatrixView(nullptr, 0, model_.layers.back()->spec().out);
}

ConstMatrixView Pipeline::embeddings() const {
  const int last = int(model_.layers.size()) - 1;
  if (last == 0) return {};
  return is_last() ? rows_->present(last) : MatrixView(nullptr, 0, layer(last).spec().in);
}

}  // namespace atl
