#include "train/links/link_task.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace atl {
namespace {

/// All ranks' scores, in the order of ranks, on rank 0; nothing elsewhere.
std::vector<Real> gather(Communicator& comm, std::span<const Real> mine) {
  std::vector<std::vector<std::byte>> to(std::size_t(comm.size()));
  const auto bytes = std::as_bytes(mine);
  to[0].assign(bytes.begin(), bytes.end());
  std::vector<Real> all;
  for (const auto& blob : comm.all_to_all(Traffic::kEvaluation, to)) {
    const std::size_t begin = all.size();
    all.resize(begin + blob.size() / sizeof(Real));
    if (!blob.empty()) std::memcpy(all.data() + begin, blob.data(), blob.size());
  }
  return all;
}

}  // namespace

LinkTask::LinkTask(Context& ctx, Communicator& comm, const Job& job, const RankData& data, const Model& model)
    : ctx_(ctx),
      comm_(comm),
      job_(job),
      data_(data),
      host_{Device::kCpu, ctx.pool, &host_workspace_},
      decoder_(job.links, model.layers.back()->spec().out, int(model.layers.size())),
      exchange_(data.links()->graph().owners(), comm),
      draws_(data.links()->graph(), job.links.negatives, job.training.seed),
      copies_(ctx) {}

void LinkTask::place_rows(std::span<const VertexId> ids) {
  const PairGraph& graph = data_.links()->graph();
  const Index first = graph.owners().first_row(graph.rank());
  place_of_.assign(std::size_t(graph.owners().rows(graph.rank())), -1);
  for (std::size_t i = 0; i < ids.size(); ++i)
    place_of_[std::size_t(graph.row_of(ids[i]) - first)] = VertexId(i);
}

/// The rows are a batch's seeds, or the part's own vertices, which come before copies of others.
void LinkTask::place_training_rows(const LossRows& of) {
  if (of.pairs == nullptr) {
    const LocalGraph& graph = *data_.training_part().graph;
    return place_rows(std::span(graph.ids).first(std::size_t(graph.counted)));
  }
  const PairGraph& graph = data_.links()->graph();
  place_of_.assign(std::size_t(graph.owners().rows(graph.rank())), -1);
  for (std::size_t i = 0; i < of.rows.size(); ++i) place_of_[std::size_t(of.rows[i])] = VertexId(i);
}

double LinkTask::loss(std::int64_t step, ConstMatrixView rows, const LossRows& of,
                      const WeightVersion& weights, MatrixView d_rows) {
  const StepPairs* pairs = of.pairs;
  if (pairs == nullptr) draws_.draw_all(step - 1, pairs_), pairs = &pairs_;
  place_training_rows(of);
  // Waits for the step before, which reads the memory that is written below.
  const ConstMatrixView here = rows_here_.of(ctx_, rows);
  const bool is_here = memory_of(ctx_.device).is_hosts;
  if (!is_here) d_rows_.resize(rows.rows, rows.cols);
  const MatrixView own = is_here ? d_rows : d_rows_.view();
  fill(host_, 0, own);
  exchange_.fetch(Traffic::kPair, *pairs, place_of_, here);
  const double sum = decoder_.train(host_, weights, exchange_.rows(), exchange_, Real(1 / pairs->total),
                                    exchange_.gradients(own));
  exchange_.give_back(own);
  if (is_here) return sum;
  copies_.restart();
  axpby(ctx_, 1, copies_.of(ConstMatrixView(own)), 0, d_rows);
  return sum;
}

void LinkTask::score(ConstMatrixView embeddings, const WeightVersion& weights, const StepPairs& pairs,
                     Index most, std::vector<Real>& scores) {
  place_rows(data_.owned_ids());
  const ConstMatrixView rows = rows_here_.of(ctx_, embeddings);
  scores.resize(std::size_t(pairs.size()));
  for (Index begin = 0; begin < most; begin += kScoredPairs) {
    piece_.clear();
    for (Index i = begin; i < std::min(begin + kScoredPairs, pairs.size()); ++i)
      piece_.add(pairs.sources[i], pairs.destinations[i]);
    exchange_.fetch(Traffic::kEvaluation, piece_, place_of_, rows);
    const auto place = std::min(std::size_t(begin), scores.size());
    decoder_.score(host_, weights, exchange_.rows(), exchange_, std::span(scores).subspan(place));
  }
}

LinkTask::Measured LinkTask::measure(ConstMatrixView embeddings, const WeightVersion& weights,
                                     const LinkData::Measured& of) {
  Measured measured;
  if (of.edges == 0) return measured;
  score(embeddings, weights, of.pairs, of.most, scores_);
  measured.loss = Decoder::loss(scores_, of.pairs.edges, 0, {});
  const auto all = std::span<const Real>(scores_);
  const auto edges = std::size_t(of.pairs.edges);
  std::vector<Real> of_edges = gather(comm_, all.first(edges)),
                    of_negatives = gather(comm_, all.subspan(edges));
  LinkMetrics metrics;
  if (comm_.rank() == 0)
    metrics = link_metrics(std::move(of_edges), std::move(of_negatives), job_.links.hits_at);
  comm_.broadcast(Traffic::kEvaluation, 0, std::as_writable_bytes(std::span(&metrics, 1)));
  comm_.all_reduce(Traffic::kEvaluation, std::span(&measured.loss, 1));
  measured.loss /= of.edges + of.negatives;
  measured.metrics = metrics;
  return measured;
}

Evaluation LinkTask::evaluate(ConstMatrixView embeddings, const WeightVersion& weights) {
  const Measured validation = measure(embeddings, weights, data_.links()->validation()),
                 test = measure(embeddings, weights, data_.links()->test());
  Evaluation result;
  test_ = test.metrics;
  if (test.metrics) result.test = reported(job_.links, *test.metrics);
  if (!validation.metrics) return result;
  result.validation = reported(job_.links, *validation.metrics);
  result.validation_loss = validation.loss;
  return result;
}

EndExchange::EndExchange(const Owners& owners, Communicator& comm)
    : owners_(owners), comm_(comm), requests_(owners, comm, Lane::kSmall) {}

void EndExchange::fetch(Traffic purpose, const StepPairs& pairs, std::span<const VertexId> place_of,
                        ConstMatrixView rows) {
  own_ = rows;
  pairs_ = &pairs;
  place_of_ = place_of;
  collect_ends(
      pairs, [&](VertexId row) { return !owners_.owns(comm_.rank(), row); }, wanted_);
  sent_.grow(Index(wanted_.size()), rows.cols, Device::kCpu, true);
  number_of_.resize(wanted_.size());
  asked_.clear();
  if (comm_.size() > 1) {
    requests_.ask(purpose, wanted_);
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      number_of_[std::size_t(requests_.places()[i])] = VertexId(i);
    const auto first = VertexId(owners_.first_row(comm_.rank()));
    for (const VertexId row : requests_.asked()) asked_.push_back(place_of[std::size_t(row - first)]);
    out_.grow(Index(asked_.size()), rows.cols, Device::kCpu, true);
    for (std::size_t i = 0; i < asked_.size(); ++i)
      std::copy_n(rows.row(asked_[i]), rows.cols, out_.view().row(Index(i)));
    const RowRequests::Answers answers{out_.data(), requests_.asked_begin(), sent_.data(),
                                       requests_.wanted_begin(), rows.cols * Index(sizeof(Real))};
    requests_.answer(purpose, {&answers, 1});
  }
}

VertexId EndExchange::number_of(VertexId row) const {
  if (owners_.owns(comm_.rank(), row))
    return place_of_[std::size_t(Index(row) - owners_.first_row(comm_.rank()))];
  const auto at = std::ranges::lower_bound(wanted_, row) - wanted_.begin();
  return VertexId(own_.rows) + number_of_[std::size_t(at)];
}

EndPairs EndExchange::piece(Index begin, Index count) {
  source_.take(count), destination_.take(count);
  for (Index i = 0; i < count; ++i) {
    source_[i] = number_of(pairs_->sources[begin + i]);
    destination_[i] = number_of(pairs_->destinations[begin + i]);
  }
  return {source_.span(), destination_.span(), std::clamp<Index>(pairs_->edges - begin, 0, count)};
}

EndGradients EndExchange::gradients(MatrixView own) {
  d_sent_.grow(sent_.rows(), own.cols, Device::kCpu, true);
  d_sent_.zero();
  return {own, d_sent_.view()};
}

void EndExchange::give_back(MatrixView own) {
  if (comm_.size() == 1) return;
  d_out_.grow(Index(asked_.size()), own.cols, Device::kCpu, true);
  const RowRequests::Answers gradients{d_sent_.data(), requests_.wanted_begin(), d_out_.data(),
                                       requests_.asked_begin(), own.cols * Index(sizeof(Real))};
  requests_.answer(Traffic::kPairGradient, {&gradients, 1});
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    Real* const to = own.row(asked_[i]);
    const Real* const from = d_out_.view().row(Index(i));
    for (Index c = 0; c < own.cols; ++c) to[c] += from[c];
  }
}

}  // namespace atl
