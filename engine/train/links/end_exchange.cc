#include "train/links/end_exchange.h"

#include <algorithm>

namespace atl {

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
