// Makes features for vertices that have none: --features one-hot, --features random:64.
#include "dataset/feature_writer.h"

#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "base/error.h"
#include "dataset/generate/shuffle.h"

namespace atl {
namespace {

constexpr Index kMostColumns = 65536;

/// A normal number from two uniform draws (Box & Muller 1958).
float normal_at(const Draws& draws, Index vertex, Index column) {
  const double u = draws.uniform_at(std::uint64_t(vertex), std::uint64_t(2 * column)),
               v = draws.uniform_at(std::uint64_t(vertex), std::uint64_t(2 * column + 1));
  return float(std::sqrt(-2 * std::log1p(-u)) * std::cos(2 * std::numbers::pi * v));
}

void add_one_hot(Index vertices, FeatureWriter& writer) {
  const std::vector<Index> offsets{0, 1};
  for (Index v = 0; v < vertices; ++v) {
    const auto column = VertexId(v);
    writer.add_sparse(CsrView{1, vertices, offsets.data(), &column, nullptr}, {"--features", v});
  }
}

}  // namespace

std::string MadeFeatures::description() const {
  return random_columns == 0 ? "one-hot" : fmt::format("{} random columns, seed {}", random_columns, seed);
}

MadeFeatures parse_made_features(const std::string& text, std::uint64_t seed) {
  if (text == "one-hot") return {0, seed};
  long columns = 0;
  char more = 0;
  const int read = std::sscanf(text.c_str(), "random:%ld%c", &columns, &more);
  if (read != 1 || columns < 1 || columns > kMostColumns)
    fail("--features: '{}' is not allowed (use one-hot, or random:COLUMNS with 1 … {} columns: random:64)",
         text, kMostColumns);
  return {columns, seed};
}

void add_made_features(const MadeFeatures& made, Index vertices, FeatureWriter& writer) {
  if (made.random_columns == 0) return add_one_hot(vertices, writer);
  const Draws draws(made.seed, Purpose::kGenerator, std::uint64_t(DrawStream::kMadeFeatures));
  std::vector<float> row(std::size_t(made.random_columns));
  for (Index v = 0; v < vertices; ++v) {
    for (Index c = 0; c < made.random_columns; ++c) row[std::size_t(c)] = normal_at(draws, v, c);
    writer.add_dense({row.data(), 1, made.random_columns}, {"--features", v});
  }
}

}  // namespace atl
