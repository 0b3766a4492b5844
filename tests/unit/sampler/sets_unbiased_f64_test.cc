// What arcs and losses stand for where vertices are drawn for a whole step: on average over draws each for itself. 2,000 draws, 4 standard
// errors.
#include <gtest/gtest.h>

#include <cmath>

#include "sampler/drawn_sets.h"

namespace atl {
namespace {

constexpr int kDraws = 2000;

/// A mean of draws, and how sure it is.
struct Mean {
  double sum = 0, squares = 0;
  int count = 0;
  void add(double value) { sum += value, squares += value * value, ++count; }
  double value() const { return sum / count; }
  double error() const { return std::sqrt(std::max(0.0, squares / count - value() * value()) / count); }
};

/// An arc of the graph, not a loop.
struct Arc {
  VertexId row, column;
  Index place;
};

std::vector<Arc> arcs_of(const CsrView& graph) {
  std::vector<Arc> arcs;
  for (Index row = 0; row < graph.rows; ++row)
    for (Index e = graph.offsets[row]; e < graph.offsets[row + 1]; ++e)
      if (graph.columns[e] != row) arcs.push_back({VertexId(row), graph.columns[e], e - graph.offsets[row]});
  return arcs;
}

struct Case {
  const char *name, *sampler;
  Normalisation by = Normalisation::kSum;
  bool weighted = false;
  int coverage = 20;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class LayerSets : public testing::TestWithParam<Case> {};

TEST_P(LayerSets, AnArcStandsForItselfOnAverage) {
  const Case& c = GetParam();
  const SampledGraph graph({.graph = {60, 900, 1, c.weighted}});
  const std::vector<Arc> arcs = arcs_of(graph.prepared.graph());
  run_ranks(1, [&](Communicator& comm) {
    DrawnSets drawn(graph, comm, {.sampler = c.sampler, .by = c.by});
    std::vector<Mean> means(arcs.size());
    for (int step = 0; step < kDraws; ++step) {
      drawn.sets->draw(step, std::vector<VertexId>{3, 4, 5});
      for (std::size_t a = 0; a < arcs.size(); ++a)
        means[a].add(drawn.sets->of_layer(1).stands_for(arcs[a].row, arcs[a].column, arcs[a].place));
    }
    // What LADIES can draw for the last layer are neighbours of its seeds.
    const bool by_seeds = c.sampler == std::string("ladies");
    int random = 0;
    for (std::size_t a = 0; a < arcs.size(); ++a) {
      if (by_seeds && (arcs[a].row < 3 || arcs[a].row > 5)) continue;
      random += means[a].error() > 0;
      EXPECT_NEAR(means[a].value(), 1, 4 * means[a].error() + 1e-6) << arcs[a].row << " " << arcs[a].column;
    }
    EXPECT_GT(random, 20);
  });
}

using enum Normalisation;
INSTANTIATE_TEST_SUITE_P(All, LayerSets,
                         testing::Values(Case{"fastgcn", "fastgcn"},
                                         Case{"fastgcn_mean", "fastgcn", kMean, true},
                                         Case{"fastgcn_symmetric", "fastgcn", kSymmetric},
                                         Case{"ladies", "ladies"}, Case{"ladies_mean", "ladies", kMean, true},
                                         Case{"ladies_symmetric", "ladies", kSymmetric}),
                         [](const auto& instance) { return std::string(instance.param.name); });

class SubgraphSets : public testing::TestWithParam<Case> {};

/// Given that its row is there; and a training vertex's loss, whether it is there or not.
TEST_P(SubgraphSets, ArcsAndLossesStandForThemselvesOnAverage) {
  const Case& c = GetParam();
  const SampledGraph graph({.graph = {60, 500, 1, c.weighted}});
  const std::vector<Arc> arcs = arcs_of(graph.prepared.graph());
  run_ranks(1, [&](Communicator& comm) {
    DrawnSetsOptions options{.sampler = c.sampler, .by = c.by};
    options.sets.draws = 12, options.sets.coverage = c.coverage;
    DrawnSets drawn(graph, comm, options);
    Index training = 0;
    for (const Index count : drawn.by_part) training += count;
    const CsrView all = graph.prepared.graph();
    std::vector<Mean> means(arcs.size()), losses(std::size_t(all.rows));
    Recycled<Real> weights;
    for (int step = 0; step < kDraws; ++step) {
      const std::vector<VertexId> seeds = drawn.draw(step);
      const KeptArcs& kept = drawn.sets->of_layer(0);
      const auto there = [&](VertexId row) {
        const bool reads_itself = all.degree(row) > 1;
        ATOLL_CHECK(reads_itself, "row {} is alone", row);
        return kept.keeps(row, row, 0);
      };
      for (std::size_t a = 0; a < arcs.size(); ++a)
        if (there(arcs[a].row)) means[a].add(kept.stands_for(arcs[a].row, arcs[a].column, arcs[a].place));
      drawn.seeds().weigh(seeds, weights);
      std::vector<double> counted(losses.size(), 0);
      for (std::size_t i = 0; i < seeds.size(); ++i)
        counted[std::size_t(seeds[i])] =
            (weights.size() > 0 ? double(weights[Index(i)]) : 1) * training / drawn.seeds().size(step);
      for (std::size_t row = 0; row < losses.size(); ++row) losses[row].add(counted[row]);
    }
    // Corrections that are counted have an error of their own.
    const double own = c.sampler == std::string("saintWalk") ? 0.1 : 0;
    int random = 0;
    for (std::size_t a = 0; a < arcs.size(); ++a) {
      random += means[a].error() > 0;
      EXPECT_NEAR(means[a].value(), 1, 4 * means[a].error() + own + 1e-6)
          << arcs[a].row << " " << arcs[a].column;
    }
    EXPECT_GT(random, 100);
    for (const auto& rows : drawn.training.by_part)
      for (const VertexId row : rows)
        EXPECT_NEAR(losses[std::size_t(row)].value(), 1, 4 * losses[std::size_t(row)].error() + own + 1e-6)
            << row;
  });
}

INSTANTIATE_TEST_SUITE_P(All, SubgraphSets,
                         testing::Values(Case{"uniform", "uniform"}, Case{"vertices", "saintVertex"},
                                         Case{"vertices_symmetric", "saintVertex", kSymmetric, true},
                                         Case{"edges", "saintEdge"},
                                         Case{"walks", "saintWalk", kSum, false, 20000}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace atl
