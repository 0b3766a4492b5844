// Given options of a strategy that do nothing, or are known to do harm, are named; defaults, and options that
// do something, aren't.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/load.h"
#include "job/valid_manifest.h"

namespace atl {
namespace {

std::vector<std::string> warnings(const std::string& strategy, const std::vector<Override>& more = {}) {
  std::vector<Override> overrides{"strategy=" + strategy, "training.optimizer.learningRate=0.001"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  return parse_job(kValidManifest, "m.yaml", overrides).warnings;
}

struct Silent {
  std::string name, strategy;
  std::vector<Override> more{};
  std::string told{};  // "": nothing
};

class OptionsWithoutEffect : public testing::TestWithParam<Silent> {};

TEST_P(OptionsWithoutEffect, AreNamedAndNoOthers) {
  const Silent& c = GetParam();
  if (c.told.empty())
    EXPECT_THAT(warnings(c.strategy, c.more), testing::IsEmpty());
  else
    EXPECT_THAT(warnings(c.strategy, c.more), testing::Contains(testing::HasSubstr(c.told)));
}

std::vector<Silent> cases() {
  const std::string one = "placement.ranks=1", servers = "placement={ranks: 4, ranksPerServer: 2}";
  return {
      {"PipeGcnOnOneRank", "{kind: pipegcn}", {one}, "strategy.kind: pipegcn on one rank is graph"},
      {"BnsOnOneRank", "{kind: bns}", {one}, "bns on one rank is graph"},
      {"CagnetOnOneRank", "{kind: cagnet}", {one}, "cagnet on one rank is graph"},
      {"SancusOnOneRank", "{kind: sancus}", {one}, "sancus on one rank is graph"},
      {"P3OnOneRank", "{kind: p3}", {one}, "p3 on one rank is minibatch"},
      {"DgsOnOneRank", "{kind: dgs}", {one}, "dgs on one rank is minibatch"},
      {"GnnPipeOnOneRank", "{kind: gnnpipe}", {one}},
      {"OverlapOnOneRank",
       "{kind: graph, graph: {overlap: false}}",
       {one},
       "overlap: has no effect on one rank"},
      {"Overlap", "{kind: graph, graph: {overlap: false}}"},
      {"DecayOfNoAverage",
       "{kind: pipegcn, pipegcn: {smoothing: none, decay: 0.3}}",
       {},
       "strategy.pipegcn.decay: has no effect without smoothing"},
      {"CorrectionOfNoAverage",
       "{kind: pipegcn, pipegcn: {boundaryRate: 0.5, biasCorrection: false}}",
       {},
       "strategy.pipegcn.biasCorrection: has no effect without smoothing"},
      {"DecayOfAnAverage",
       "{kind: pipegcn, pipegcn: {smoothing: features, decay: 0.3, biasCorrection: false}}"},
      {"GranndisOnOneServer",
       "{kind: granndis}",
       {"placement={ranks: 4, ranksPerServer: 4}"},
       "granndis on one server is graph: no vertex is another server's (use graph, or a placement.ranksPerServer from 1 to 3)"},
      {"GranndisOnOneRank", "{kind: granndis}", {one}, "(use graph, or more placement.ranks)"},
      {"GranndisOnOneServerInBatches",
       "{kind: granndis, granndis: {batches: 2}}",
       {"placement={ranks: 4, ranksPerServer: 4}"}},
      {"GranndisFartherThanLayers",
       "{kind: granndis, granndis: {maxHop: 5}}",
       {servers},
       "strategy.granndis.maxHop: is 5, and 2 layers read copies: of all copies those farther away are read by none, of a sample by few (use 2, or 0)"},
      {"GranndisFartherThanHops",
       "{kind: granndis, granndis: {maxHop: 2, hops: 1}}",
       {servers},
       "is 2, and 1 layer read copies"},
      {"GranndisAsFarAsLayers", "{kind: granndis, granndis: {maxHop: 2}}", {servers}},
      {"GnnPipeDoublesGradients",
       "{kind: gnnpipe, gnnpipe: {scaleHistoricalGradient: true}}",
       {},
       "scaleHistoricalGradient: doubles gradients"},
      {"GnnPipeOfOneChunk",
       "{kind: gnnpipe, gnnpipe: {stages: 1, chunks: 1, historyRefresh: 4}}",
       {},
       "historyRefresh: has no effect with one chunk"},
      {"GnnPipe", "{kind: gnnpipe, gnnpipe: {stages: 1, chunks: 2, historyRefresh: 4, shuffle: false}}"},
      {"SancusThreshold",
       "{kind: sancus, sancus: {rule: bounded, staleness: 0, threshold: 0.2}}",
       {},
       "strategy.sancus.threshold: has no effect with staleness 0"},
      {"SancusWarmup",
       "{kind: sancus, sancus: {every: 1, warmup: 7}}",
       {},
       "warmup: has no effect with every 1"},
      {"SancusGradients",
       "{kind: sancus, sancus: {every: 1, gradients: withRows}}",
       {},
       "strategy.sancus.gradients: has no effect with every 1: every block is broadcast in each epoch"},
      {"SancusGradientsByChange",
       "{kind: sancus, sancus: {rule: bounded, staleness: 0, gradients: withRows}}",
       {},
       "strategy.sancus.gradients: has no effect with staleness 0"},
      {"SancusInWarmup",
       "{kind: sancus}",
       {"training.epochs=50"},
       "sancus is cagnet in this run: every block is broadcast in each of the first 50 epochs, and there are 50"},
      {"Sancus", "{kind: sancus}", {"training.epochs=51"}},
      {"FillOfNothing",
       "{kind: minibatch, minibatch: {fill: mean}}",
       {},
       "strategy.minibatch.fill: has no effect with featureRate 1"},
      {"Fill", "{kind: minibatch, minibatch: {fill: mean, featureRate: 0.5}}"},
      {"FillOfDgs", "{kind: dgs, dgs: {fill: mean, featureRate: 1}}", {}, "strategy.dgs.fill: has no effect"},
      {"FillOfDgsByDefault", "{kind: dgs, dgs: {fill: mean}}"},
      {"FeatureRateOnOneRank",
       "{kind: minibatch, minibatch: {featureRate: 0.5}}",
       {one},
       "featureRate: has no effect on one rank"},
      {"PolicyOfNoCache",
       "{kind: minibatch, minibatch: {cache: {policy: lru}}}",
       {},
       "strategy.minibatch.cache.policy: has no effect without a cache"},
      {"CacheOfNoNeighbours",
       "{kind: minibatch, minibatch: {sampler: none, cache: {bytes: 1Mi}}}",
       {"model={kind: sign}", "placement.ranks=2"},
       "strategy.minibatch.cache.bytes: has no effect with sampler none"},
      {"NoNeighbours",
       "{kind: minibatch, minibatch: {sampler: none, batchSize: 512, structure: mapped}}",
       {"model={kind: sign}", "placement.ranks=2"}},
      {"FileOfNoNeighbours",
       "{kind: minibatch, minibatch: {sampler: none, sumsFolder: /scratch}}",
       {"model={kind: sign}", "placement.ranks=2"}},
      {"FileOfNoSums",
       "{kind: minibatch, minibatch: {sumsFolder: /scratch}}",
       {},
       "strategy.minibatch.sumsFolder: has no effect without sampler none"},
      {"PolicyOfACache", "{kind: minibatch, minibatch: {cache: {policy: lru, bytes: 1Mi}}}"},
      {"CacheOnOneRank",
       "{kind: minibatch, minibatch: {cache: {bytes: 1Mi}}}",
       {one},
       "cache.bytes: has no effect on one rank"},
      {"FeaturesOfNoGpu",
       "{kind: minibatch, minibatch: {gpuFeatures: 0.5}}",
       {},
       "gpuFeatures: has no effect without resources.nvidia.com/gpu"},
      {"FeaturesOfAGpu",
       "{kind: minibatch, minibatch: {gpuFeatures: 0.5}}",
       {"resources={nvidia.com/gpu: 1}"}},
      {"AllNeighboursTwice",
       "{kind: minibatch, minibatch: {fanout: [-1, -1], replace: true}}",
       {},
       "replace: has no effect where every layer reads all neighbours"},
      {"SomeNeighboursTwice", "{kind: p3, p3: {fanout: [-1, 3], replace: true}}"},
      {"EpsilonOfRandomVertices",
       "{kind: dgs, dgs: {vertices: random, epsilon: 0.3}}",
       {},
       "strategy.dgs.epsilon: has no effect with vertices: random"},
      {"NothingExplained",
       "{kind: dgs, dgs: {vertices: random, features: random, explainEvery: 7}}",
       {},
       "strategy.dgs.explainEvery: has no effect where nothing is explained"},
      {"FeaturesExplained", "{kind: dgs, dgs: {vertices: random, explainEvery: 7}}"},
      {"WireOnOneRank", "{kind: graph, wire: bfloat16}", {one}, "strategy.wire: has no effect on one rank"},
      {"WireOfHalves",
       "{kind: graph, wire: bfloat16}",
       {"training.precision=bfloat16"},
       "strategy.wire: has no effect with training.precision bfloat16"},
      {"Wire", "{kind: graph, wire: bfloat16}"},
      {"TrialOfExactOnes",
       "{kind: auto, trial: 7}",
       {},
       "strategy.trial: has no effect with strategy.exact true"},
      {"Trial", "{kind: auto, exact: false, trial: 7, trialShare: 0.5}"},
      {"ShareOfExactOnes",
       "{kind: auto, trialShare: 0.5}",
       {},
       "strategy.trialShare: has no effect with strategy.exact true"},
      {"LateGradientsAtAHighRate",
       "{kind: p3, p3: {delay: 3}}",
       {"training.optimizer.learningRate=0.01"},
       "training.optimizer.learningRate: 0.01 is high for gradients that are three steps late"},
      {"LateGradients", "{kind: p3, p3: {delay: 3}}", {"training.optimizer.learningRate=0.003"}},
      {"GradientsInTime", "{kind: p3}", {"training.optimizer.learningRate=0.01"}},
      {"LateGradientsOfSgd",
       "{kind: p3, p3: {delay: 3}}",
       {"training.optimizer={kind: sgd, learningRate: 0.1}"}},
  };
}

INSTANTIATE_TEST_SUITE_P(Each, OptionsWithoutEffect, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

/// A resolved manifest has every option, and nobody wished for those.
TEST(OptionsWithoutEffect, OfAResolvedManifestAreNoWish) {
  for (const char* strategy : {"{kind: pipegcn, pipegcn: {smoothing: none}}", "{kind: minibatch}",
                               "{kind: dgs}", "{kind: gnnpipe, gnnpipe: {stages: 1, chunks: 1}}",
                               "{kind: p3}", "{kind: minibatch, minibatch: {sampler: cluster}}"}) {
    const Job job = parse_job(kValidManifest, "m.yaml", {std::string("strategy=") + strategy}).job;
    const LoadedJob again = parse_job(write_job(job), "job.yaml");
    EXPECT_THAT(again.warnings, testing::Not(testing::Contains(testing::HasSubstr(": strategy."))))
        << strategy;
    EXPECT_EQ(again.job, job);
  }
}

}  // namespace
}  // namespace atl
