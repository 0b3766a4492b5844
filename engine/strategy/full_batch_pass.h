// The verbs of a full-batch pass: gather goes to the exchange, sync is the identity, reduce sums over all ranks.
#pragma once

#include "exchange/exchange.h"

namespace atl {

/// One per schedule, told which pass and layer are next. References outlive it.
class FullBatchPass final : public Verbs {
 public:
  FullBatchPass(Context& ctx, Communicator& comm, const LocalGraph& graph, Exchange& exchange,
                std::uint64_t seed, double all_vertices)
      : ctx_(ctx),
        comm_(comm),
        graph_(graph),
        exchange_(exchange),
        seed_(seed),
        all_vertices_(all_vertices) {}

  Context& context() override { return ctx_; }
  Index destinations() const override { return graph_.owned; }
  std::span<const VertexId> destination_ids() const override {
    return std::span(graph_.ids).first(std::size_t(graph_.owned));
  }
  bool training() const override { return training_; }
  bool repeating() const override { return purpose_ == Traffic::kRecompute; }
  Draws draws(Purpose purpose, int layer) const override {
    return Draws(seed_, purpose, std::uint64_t(step_), std::uint64_t(layer));
  }
  void gather(const Rows& rows, VisitSource visit) override {
    exchange_.forward({layer_, rows, purpose_}, visit);
  }
  void gather_backward(const Rows& rows, VisitSourceBackward visit, MatrixView d_rows) override {
    exchange_.backward({layer_, rows, purpose_}, visit, d_rows);
  }
  void gather_sum(const Rows& rows, const Sum& sum, VisitSum visit) override {
    exchange_.forward_sum({layer_, rows, purpose_}, sum, visit);
  }
  void gather_sum_backward(const Rows& rows, const SumGradient& sum, VisitSumBackward visit,
                           MatrixView d_rows) override {
    exchange_.backward_sum({layer_, rows, purpose_}, sum, visit, d_rows);
  }
  void gather_softmax(const Rows& rows, const SoftmaxGather& softmax, VisitSoftmax visit) override {
    exchange_.forward_softmax({layer_, rows, purpose_}, softmax, visit);
  }
  void gather_softmax_backward(const Rows& rows, const SoftmaxGradient& softmax, VisitSoftmaxBackward visit,
                               MatrixView d_rows) override {
    exchange_.backward_softmax({layer_, rows, purpose_}, softmax, visit, d_rows);
  }
  MatrixView sync(MatrixView partial) override { return partial; }
  void reduce(std::span<double> values) override { comm_.all_reduce(Traffic::kStatistics, values); }
  double reduced_rows() const override { return all_vertices_; }

  /// `step` keys the pass's draws.
  void begin(std::int64_t step, bool training) {
    step_ = step;
    training_ = training;
    purpose_ = training ? Traffic::kHalo : Traffic::kEvaluation;
  }
  /// The pass over constant layers, once.
  void prepare() { begin(0, false), purpose_ = Traffic::kSetup; }
  /// The layer that runs next.
  void bind(int layer) { layer_ = layer; }
  /// Whether forward is repeated during backward.
  void repeat(bool on) { purpose_ = on ? Traffic::kRecompute : Traffic::kHalo; }

 private:
  Context& ctx_;
  Communicator& comm_;
  const LocalGraph& graph_;
  Exchange& exchange_;
  std::uint64_t seed_;
  double all_vertices_;
  std::int64_t step_ = 0;
  bool training_ = false;
  Traffic purpose_ = Traffic::kHalo;
  int layer_ = 0;
};

}  // namespace atl
