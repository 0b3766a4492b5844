// Valid manifests: values, defaults, short forms, overrides, warnings, and writing and reading again.
#include "job/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "job/strategies.h"
#include "job/valid_manifest.h"
#include "strategies/dgs/info.h"
#include "where.h"

namespace atl {
namespace {

Job valid(const std::vector<Override>& overrides = {}) {
  return parse_job(kValidManifest, "m.yaml", overrides).job;
}

std::vector<std::string> warnings(const std::vector<Override>& overrides) {
  return parse_job(kValidManifest, "m.yaml", overrides).warnings;
}

TEST(Load, ReadsValuesAndLeavesDefaults) {
  const Job job = valid();
  EXPECT_EQ(job.name, "test");
  EXPECT_EQ(job.dataset.name, "cora");
  EXPECT_EQ(job.model.kind, "gcn");
  EXPECT_EQ(job.model.hidden, 16);
  EXPECT_EQ(job.training.epochs, 100);
  EXPECT_EQ(job.training.optimizer.learning_rate, 0.01);
  EXPECT_EQ(job.training.dropout, 0.5);
  EXPECT_EQ(job.placement.ranks, 2);
  EXPECT_TRUE(job.strategy.options.flag("overlap"));
  EXPECT_EQ(job.output.path, "test");
}

TEST(Load, AJobHoldsTheRowOfItsStrategy) {
  EXPECT_EQ(Job().strategy.row->kind, "graph") << "where none is named";
  for (const StrategyInfo& info : strategy_infos()) {
    const Job job = valid({"strategy={kind: " + info.kind + "}"}), copy = job;
    EXPECT_EQ(job.strategy.row, &info) << info.kind;
    EXPECT_EQ(copy, job);
    EXPECT_THAT(write_job(job), testing::HasSubstr("    kind: " + info.kind + "\n"));
  }
  EXPECT_NE(valid({"strategy={kind: cagnet}"}), valid({"strategy={kind: sancus}"}));
}

TEST(Load, ShortFormsOfObjects) {
  const Job job =
      valid({"training.optimizer.weightDecay=5e-4", "training.inputDropout=0.25", "training.earlyStopping=10",
             "training.checkpoint=7", "training.learningRateSchedule=cosine", "placement.partitioner=hash"});
  EXPECT_EQ(job.training.optimizer.weight_decay.convolutions, 5e-4);
  EXPECT_EQ(job.training.optimizer.weight_decay.dense, 5e-4);
  EXPECT_LT(job.training.optimizer.weight_decay.first_layer, 0);
  EXPECT_EQ(job.training.input_dropout.rate, 0.25);
  EXPECT_EQ(job.training.early_stopping.patience, 10);
  EXPECT_EQ(job.training.checkpoint.every, 7);
  EXPECT_EQ(job.training.schedule.kind, ScheduleKind::kCosine);
  EXPECT_EQ(job.placement.partitioner.kind, "hash");
}

TEST(Load, AnOverrideOfOneGroupKeepsTheOther) {
  const Job job = valid({"training.optimizer.weightDecay=0.01", "training.optimizer.weightDecay.dense=0"});
  EXPECT_EQ(job.training.optimizer.weight_decay.convolutions, 0.01);
  EXPECT_EQ(job.training.optimizer.weight_decay.dense, 0);
}

TEST(Load, QuantitiesAndCounts) {
  const Job job = valid({"resources={cpu: 500m, memory: 16Gi}",
                         "dataset={synthetic: {kind: community, vertices: 200k, "
                         "averageDegree: 50, features: 602, classes: 41}}"});
  EXPECT_EQ(job.resources.cpu, 0.5);
  EXPECT_EQ(job.resources.memory, std::int64_t{16} << 30);
  EXPECT_EQ(job.dataset.synthetic.vertices, 200000);
}

TEST(Load, OverridesWinAndMayNameSpec) {
  EXPECT_EQ(valid({"spec.training.epochs=7"}).training.epochs, 7);
  EXPECT_EQ(valid({"training.epochs=5", "training.epochs=6"}).training.epochs, 6);
  EXPECT_EQ(valid({"metadata.name=other"}).name, "other");
}

TEST(Load, OverridesAreReportedAsWritten) {
  try {
    valid({"training.epochs=none"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "--set training.epochs=none: training.epochs: 'none' is not allowed (use an integer, 1 … "
                 "1000000000)");
  }
  EXPECT_THROW(valid({"training.epochs"}), Error);
  EXPECT_THROW(valid({"=3"}), Error);
  EXPECT_THROW(valid({"training..epochs=3"}), Error);
}

TEST(Load, NamesAreThoseOfKubernetes) {
  for (const char* name : {"a", "a-b.c", "0.9", "a--b"})
    EXPECT_EQ(valid({"metadata.name='" + std::string(name) + "'"}).name, name);
  for (const char* name : {".a", "a.", "a..b", "a.-b", "a-.b", "-a", "a-", "a_b", "a b"})
    EXPECT_THROW(valid({"metadata.name='" + std::string(name) + "'"}), Error) << name;
}

TEST(Load, OptionsOfAModelHaveTheirDefaults) {
  const Job gat = valid({"model.kind=gat", "model.options.heads=4"});
  EXPECT_EQ(gat.model.options.integer("heads"), 4);
  EXPECT_EQ(gat.model.options.integer("outputHeads"), 1);
  EXPECT_EQ(gat.model.options.number("negativeSlope"), 0.2);
  EXPECT_EQ(valid({"model.kind=resgcn"}).model.options.text("aggregator"), "mean");
}

TEST(Load, IgnoredFieldsAreWarnings) {
  EXPECT_THAT(warnings({"training.attentionDropout=0.5"}),
              testing::ElementsAre(
                  "--set training.attentionDropout=0.5: training.attentionDropout: has no effect with "
                  "model.kind gcn (it needs model.kind: gat)"));
  EXPECT_EQ(warnings({"training.optimizer.momentum=0.9"}).size(), 1u);
  const std::vector<Override> one_stage{"strategy={kind: gnnpipe}", "model={kind: gcn, layers: 4}",
                                        "placement={ranks: 7}"};
  EXPECT_THAT(
      warnings(one_stage),
      testing::Contains(testing::HasSubstr(
          "strategy.gnnpipe.stages: 7 ranks and 4 layers make 1 stage, so nothing is pipelined (use ranks "
          "with a divisor from 2 to 4)")));
  EXPECT_EQ(warnings({"placement.partitioner={kind: range, seed: 3, objective: cut}"}).size(), 2u);
  EXPECT_EQ(warnings({"training.inputDropout={rate: 0, position: afterAggregation}"}).size(), 1u);
  EXPECT_EQ(warnings({"model.kind=sgc"}).size(), 2u);  // layers and hidden
  EXPECT_TRUE(warnings({"model.kind=gat", "training.attentionDropout=0.5"}).empty());
}

/// The last layer has model.hidden columns where pairs are scored.
TEST(Load, HiddenOfSgcCountsForLinks) {
  EXPECT_THAT(warnings({"model.kind=sgc", "task=linkPrediction"}),
              testing::ElementsAre(testing::HasSubstr("model.layers: has no effect with model sgc")));
}

TEST(Load, ABlockOfLinksWithoutTheTaskIsToldTheTask) {
  EXPECT_THAT(warnings({"linkPrediction={decoder: mlp}"}),
              testing::Contains(testing::HasSubstr("it needs task: linkPrediction")));
  EXPECT_THAT(write_job(valid()), testing::Not(testing::HasSubstr("linkPrediction")));
  EXPECT_THAT(write_job(valid({"task=linkPrediction"})), testing::HasSubstr("decoder: dot"));
  const Job given = valid({"linkPrediction={negatives: 3}"});
  EXPECT_EQ(parse_job(write_job(given), "again.yaml").job, given);
}

TEST(Load, HistoricalSaysWhereNoEmbeddingIsAnothers) {
  const std::string historical = "strategy={kind: minibatch, minibatch: {sampler: historical}}";
  EXPECT_THAT(warnings({historical, "placement.ranks=1"}),
              testing::Contains(testing::HasSubstr("historical on one rank is neighbour")));
  EXPECT_THAT(warnings({historical, "placement.ranks=2", "model.layers=1"}),
              testing::Contains(testing::HasSubstr("historical on one layer that gathers is neighbour")));
  EXPECT_THAT(warnings({historical, "placement.ranks=2"}), testing::IsEmpty());
}

/// On one rank there is nothing to explain; where the run is too short, masks never apply.
TEST(Load, DgsSaysWhereItsMasksDoNothing) {
  EXPECT_THAT(warnings({"strategy={kind: dgs}", "placement.ranks=1"}),
              testing::Contains(testing::HasSubstr("dgs on one rank is minibatch")));
  const Job job = valid({"strategy={kind: dgs, dgs: {explainEvery: 8}}", "placement.ranks=2"});
  EXPECT_EQ(masks_too_late(job, 100, 9), "");
  EXPECT_THAT(
      masks_too_late(job, 100, 8),
      testing::HasSubstr("strategy.dgs.explainEvery: masks apply from step 9 on, and the run has 8 steps"));
  EXPECT_THAT(masks_too_late(job, 100, 8), testing::HasSubstr("use 7 or less"));
  EXPECT_EQ(masks_too_late(valid({"strategy.kind=minibatch", "placement.ranks=2"}), 100, 1), "");
}

TEST(Load, NullLeavesTheDefaultAsOnACluster) {
  EXPECT_EQ(valid({"training.epochs=~"}).training.epochs, 200);
  EXPECT_EQ(valid({"strategy.dgs=~", "model.options.heads=~"}), valid());
  EXPECT_THROW(valid({"training.epoch=~"}), Error);  // a name that nobody knows is one all the same
}

TEST(Load, OtherDocumentsInTheFileAreNotOurs) {
  const std::string text = "kind: ConfigMap\napiVersion: v1\n---\n" + kValidManifest;
  EXPECT_EQ(parse_job(text, "m.yaml").job.name, "test");
}

TEST(Load, ClusterFieldsAreKeptAsJson) {
  const Job job =
      valid({"template={spec: {tolerations: [{key: gpu, operator: Exists}]}}", "metadata.labels={team: a}"});
  EXPECT_EQ(job.template_, R"({"spec":{"tolerations":[{"key":"gpu","operator":"Exists"}]}})");
  EXPECT_EQ(job.metadata, R"({"labels":{"team":"a"},"name":"test"})");
}

TEST(Load, AMissingFileIsNamed) {
  try {
    load_job("/nowhere/x.yaml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/nowhere/x.yaml: can't be read: No such file or directory; check the path");
  }
  EXPECT_THROW(load_job("/tmp"), Error);
}

TEST(Write, ReadsBackToTheSameJob) {
  const std::vector<std::vector<Override>> variants{
      {},
      {"model.kind=gat", "training.attentionDropout=0.6"},
      {"model.kind=sage", "model.options.aggregator=meanWithSelf", "dataset.volume={emptyDir: {}}",
       "dataset.prepared={persistentVolumeClaim: {claimName: scratch}}"},
      {"dataset={synthetic: {kind: community, preset: reddit, scale: 0.05}}",
       "resources={cpu: 2, memory: 1Gi}"},
      {"dataset={synthetic: {kind: community, vertices: 1k, averageDegree: 5, features: 8, classes: 2, "
       "homophily: 0.1}}"},
      {"placement={ranks: 4, topologyLevels: [zone, 'on'], levelWeights: [10, 0.1]}",
       "image='on: \"quoted\" \\ é'"},
      {"training.optimizer={kind: sgd, momentum: 0.9, weightDecay: {firstLayer: 5e-4}, learningRate: 1e-8}"},
      {"runPolicy={suspend: true, cleanPodPolicy: All}", "template={a: {b: ['on', 1]}}",
       "strategy.graph.overlap=false"}};
  for (const auto& overrides : variants) {
    const Job job = valid(overrides);
    const std::string text = write_job(job);
    EXPECT_EQ(parse_job(text, "written.yaml").job, job) << text;
  }
}

TEST(Resume, OnlyWhatChangesTheResultForbidsIt) {
  const Job before = valid();
  EXPECT_TRUE(
      changes_that_forbid_resuming(before, valid({"training.epochs=500", "placement.ranks=4"})).empty());
  EXPECT_TRUE(changes_that_forbid_resuming(
                  before, valid({"dataset.volume={emptyDir: {}}", "dataset.prepared={emptyDir: {}}"}))
                  .empty());
  EXPECT_THAT(changes_that_forbid_resuming(before, valid({"training.seed=2"})),
              testing::ElementsAre("training.seed: 1 → 2"));
  EXPECT_THAT(changes_that_forbid_resuming(before, valid({"model.kind=sage"})),
              testing::ElementsAre("model.kind: gcn → sage"));
}

/// A default is as good as the number that it stands for.
TEST(Resume, ChunksAreComparedByWhatTheyMean) {
  const auto piped = [](const std::string& options) {
    return valid({"placement.ranks=4", "strategy={kind: gnnpipe, gnnpipe: {stages: 2" + options + "}}"});
  };
  EXPECT_TRUE(changes_that_forbid_resuming(piped(""), piped(", chunks: 8")).empty());
  EXPECT_TRUE(changes_that_forbid_resuming(piped(", chunks: 8"), piped("")).empty());
  EXPECT_THAT(changes_that_forbid_resuming(piped(""), piped(", chunks: 12")),
              testing::ElementsAre("strategy.gnnpipe.chunks: 0 → 12"));
}

class Example : public testing::TestWithParam<const char*> {};

TEST(Load, ARankHasAVertexOfAGeneratedGraph) {
  const std::vector<std::string> overrides{
      "dataset={synthetic: {kind: community, vertices: 20, averageDegree: 4, features: 8, classes: 2}}",
      "placement.ranks=21"};
  EXPECT_THAT([&] { parse_job(kValidManifest, "m.yaml", overrides); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "placement.ranks: 21 ranks for 20 vertices (use at most one rank per vertex)")));
}

TEST_P(Example, IsValidAndWithoutWarnings) {
  const auto loaded = load_job(source_folder() / "manifests/examples" / GetParam());
  EXPECT_THAT(loaded.warnings, testing::IsEmpty());
  EXPECT_EQ(loaded.job.name + ".yaml", GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, Example,
                         testing::Values("cora-gcn.yaml", "cora-gat.yaml", "cora-sage.yaml",
                                         "cora-gcnii.yaml", "cora-gin.yaml", "cora-sign.yaml",
                                         "arxiv-gcn.yaml", "arxiv-sage.yaml", "arxiv-pipegcn.yaml",
                                         "arxiv-bns.yaml", "arxiv-cagnet.yaml", "arxiv-sancus.yaml",
                                         "arxiv-minibatch.yaml", "arxiv-p3.yaml", "arxiv-saint.yaml",
                                         "synthetic-reddit.yaml"));

}  // namespace
}  // namespace atl
