// Weights of arcs and losses where vertices are drawn for a whole step: on average over draws each arc counts
// once, within 4 standard errors of 2,000 draws. That is 20 % for an arc that is in a fifth of the draws, and
// 5 % for all arcs together, step by step. So even slightly wrong probabilities show: P(u) instead of P(u |
// v) is 8 % off.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

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

/// Of many arcs, or losses, that are drawn together: Σ of what they stand for over Σ of what they should, of
/// all steps. Its error follows from how much each step is beside, so that it doesn't matter how much arcs
/// have to do with each other.
struct Pooled {
  double sum = 0, wanted = 0, squares = 0, products = 0, wanted_squares = 0;
  int steps = 0;
  void add(double found, double should) {
    sum += found, wanted += should, ++steps;
    squares += found * found, products += found * should, wanted_squares += should * should;
  }
  double ratio() const { return sum / wanted; }
  double error() const {
    const double r = ratio();
    return std::sqrt(std::max(0.0, squares - 2 * r * products + r * r * wanted_squares)) / wanted;
  }
};

/// `own`: an error that the weights have in common.
void expect_one(const Pooled& pooled, const char* what, double own = 0) {
  EXPECT_LT(4 * pooled.error() + own, 0.05) << what << ": too few draws to tell";
  EXPECT_NEAR(pooled.ratio(), 1, 4 * pooled.error() + own) << what;
}

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
    // What LADIES can draw for the last layer are neighbours of its seeds.
    const bool by_seeds = c.sampler == std::string("ladies");
    const auto can_be_drawn = [&](const Arc& arc) { return !by_seeds || (arc.row >= 3 && arc.row <= 5); };
    std::vector<Mean> means(arcs.size());
    Pooled pooled;
    for (int step = 0; step < kDraws; ++step) {
      drawn.sets->draw(step, std::vector<VertexId>{3, 4, 5});
      double found = 0, should = 0;
      for (std::size_t a = 0; a < arcs.size(); ++a) {
        const double stands_for =
            drawn.sets->of_layer(1).stands_for(arcs[a].row, arcs[a].column, arcs[a].place);
        means[a].add(stands_for);
        if (can_be_drawn(arcs[a])) found += stands_for, should += 1;
      }
      pooled.add(found, should);
    }
    expect_one(pooled, "arcs");
    int random = 0;
    for (std::size_t a = 0; a < arcs.size(); ++a) {
      if (!can_be_drawn(arcs[a])) continue;
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
    Reusable<Real> weights;
    Pooled pooled_arcs, pooled_losses;
    for (int step = 0; step < kDraws; ++step) {
      const std::vector<VertexId> seeds = drawn.draw(step);
      const KeptArcs& kept = drawn.sets->of_layer(0);
      const auto there = [&](VertexId row) {
        const bool reads_itself = all.degree(row) > 1;
        ATOLL_CHECK(reads_itself, "row {} is alone", row);
        return kept.keeps(row, row, 0);
      };
      double found = 0, should = 0;
      for (std::size_t a = 0; a < arcs.size(); ++a) {
        if (!there(arcs[a].row)) continue;
        const double stands_for = kept.stands_for(arcs[a].row, arcs[a].column, arcs[a].place);
        means[a].add(stands_for);
        found += stands_for, should += 1;
      }
      pooled_arcs.add(found, should);
      drawn.seeds().weigh(seeds, weights);
      std::vector<double> counted(losses.size(), 0);
      for (std::size_t i = 0; i < seeds.size(); ++i)
        counted[std::size_t(seeds[i])] =
            (weights.size() > 0 ? double(weights[Index(i)]) : 1) * training / drawn.seeds().size(step);
      for (std::size_t row = 0; row < losses.size(); ++row) losses[row].add(counted[row]);
      pooled_losses.add(std::accumulate(counted.begin(), counted.end(), 0.0), double(training));
    }
    // Corrections that are counted have an error of their own.
    const double own = c.sampler == std::string("saintWalk") ? 0.1 : 0;
    expect_one(pooled_arcs, "arcs", own / 20);
    expect_one(pooled_losses, "losses", own / 20);
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
