#include "sampler/subgraph.h"

#include <algorithm>
#include <cmath>

namespace atl {

TrainingMarks::TrainingMarks(const SetInput& in)
    : first_(VertexId(in.owners.first_row(in.rank()))),
      marks_(std::size_t(in.owners.rows(in.rank())), false) {
  for (const auto& rows : in.training.by_part)
    for (const VertexId row : rows) marks_[std::size_t(row - first_)] = true;
}

std::int64_t steps_to_read(Index vertices, double expected) {
  return std::max<std::int64_t>(1, std::llround(std::ceil(double(vertices) / std::max(1.0, expected))));
}

double sum_over_parts(const SetInput& in, FunctionRef<double(VertexId row)> value) {
  std::vector<double> of_parts(std::size_t(in.owners.parts()), 0);
  for (int part = in.owners.first_part(in.rank()); part < in.owners.first_part(in.rank() + 1); ++part)
    for (Index row = in.owners.part_begin(part); row < in.owners.part_begin(part + 1); ++row)
      of_parts[std::size_t(part)] += value(VertexId(row));
  in.comm.all_reduce(Traffic::kSetup, std::span<double>(of_parts));
  double sum = 0;
  for (const double each : of_parts) sum += each;
  return sum;
}

SaintLosses::SaintLosses(const SetInput& in, FunctionRef<double(VertexId row)> presence) {
  for (const Index count : in.training_by_part) training_ += count;
  const TrainingMarks marks(in);
  expected_ = std::max(
      1e-9, sum_over_parts(in, [&](VertexId row) { return marks.trains(row) ? presence(row) : 0.0; }));
}

double presence_of(double p, Index draws) {
  return p >= 1 ? 1 : -std::expm1(double(draws) * std::log1p(-p));
}

double presence_of_both(double p, double q, double together, Index draws) {
  return presence_of(p, draws) + presence_of(q, draws) - presence_of(std::min(1.0, p + q - together), draws);
}

}  // namespace atl
