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

}  // namespace atl
