// What a user sees for each thing that can be wrong with a manifest: the whole message, with line and remedy.
#include <gtest/gtest.h>

#include "base/error.h"
#include "job/load.h"
#include "job/valid_manifest.h"

namespace atl {
namespace {

struct Case {
  const char* name;
  const char* line;     // of the valid manifest, replaced …
  const char* instead;  // … by this
  const char* message;  // the whole error
};

const Case kCases[] = {
    {"WrongApiVersion", "apiVersion: atoll.dev/v1alpha1", "apiVersion: v1",
     "m.yaml:1: apiVersion: 'v1' is unknown (use atoll.dev/v1alpha1)"},
    {"WrongKind", "kind: GNNJob", "kind: MPIJob", "m.yaml:2: kind: 'MPIJob' is unknown (use GNNJob)"},
    {"NoName", "  name: test", "  labels: {a: b}", "m.yaml:3: metadata.name: is missing (use text)"},
    {"NameInCapitals", "  name: test", "  name: Test",
     "m.yaml:4: metadata.name: 'Test' is no name (use lower case letters, digits, '-' and '.', at most 63)"},
    {"NameIsANumber", "  name: test", "  name: 010",
     "m.yaml:4: metadata.name: 010 (a number in YAML: quote it to mean the text) is not allowed (use text)"},
    {"NameIsABoolean", "  name: test", "  name: on",
     "m.yaml:4: metadata.name: on (a boolean in YAML: quote it to mean the word) is not allowed (use text)"},
    {"UnknownField", "    epochs: 100", "    epoch: 100",
     "m.yaml:13: training.epoch: unknown field (did you mean epochs? known: epochs, optimizer, "
     "learningRateSchedule, "
     "setting, loss, metric, dropout, inputDropout, attentionDropout, evaluateEvery, earlyStopping, "
     "checkpoint, seed, "
     "precision, recompute)"},
    {"UnknownSection", "  placement:", "  palcement:",
     "m.yaml:17: palcement: unknown field (did you mean placement? known: dataset, task, model, training, "
     "strategy, "
     "placement, resources, output, runPolicy, launcher, image, template)"},
    {"UnknownAtTheTop", "spec:", "status: {}\nspecs: {}\nspec:",
     "m.yaml:6: specs: unknown field (did you mean spec? known: apiVersion, kind, metadata, spec, status)"},
    {"UnknownModel", "    kind: gcn", "    kind: gnc",
     "m.yaml:9: model.kind: 'gnc' is unknown (did you mean gcn? known: gcn, sage, gat, gcnii, resgcn, sgc)"},
    {"UnknownOption", "    hidden: 16", "    options: {alpha: 0.1}",
     "m.yaml:11: model.options.alpha: gcn has no options (remove it)"},
    {"UnknownOptionOfSage", "    kind: gcn", "    kind: sage\n    options: {agregator: mean}",
     "m.yaml:10: model.options.agregator: unknown field (did you mean aggregator? known: aggregator)"},
    {"UnknownAggregator", "    kind: gcn", "    kind: sage\n    options: {aggregator: meen}",
     "m.yaml:10: model.options.aggregator: 'meen' is unknown (did you mean mean? known: mean, meanWithSelf, "
     "gcn)"},
    {"OptionOutOfRange", "    kind: gcn", "    kind: gcnii\n    options: {alpha: 1.5}",
     "m.yaml:10: model.options.alpha: 1.5 is not allowed (use a number, 0 … 1)"},
    {"NoLayers", "    layers: 2", "    layers: 0",
     "m.yaml:10: model.layers: 0 is not allowed (use an integer, 1 … 1000)"},
    {"LayersInWords", "    layers: 2", "    layers: two",
     "m.yaml:10: model.layers: 'two' is not allowed (use an integer, 1 … 1000)"},
    {"LayersQuoted", "    layers: 2", "    layers: \"2\"",
     "m.yaml:10: model.layers: '2' is not allowed (use an integer, 1 … 1000)"},
    {"HalfALayer", "    layers: 2", "    layers: 2.5",
     "m.yaml:10: model.layers: 2.5 is not allowed (use an integer, 1 … 1000)"},
    {"LayersBeyondInt", "    layers: 2", "    layers: 9223372036854775807",
     "m.yaml:10: model.layers: 9223372036854775807 is not allowed (use an integer, 1 … 1000)"},
    {"LayersAList", "    layers: 2", "    layers: [2]",
     "m.yaml:10: model.layers: a list is not allowed (use an integer, 1 … 1000)"},
    {"ModelIsAWord", "    hidden: 16", "    options: alpha",
     "m.yaml:11: model.options: must be a map of fields (known: )"},
    {"LearningRateZero", "    optimizer: {kind: adam, learningRate: 0.01}",
     "    optimizer: {learningRate: 0}",
     "m.yaml:14: training.optimizer.learningRate: 0 is not allowed (use a number, above 0 … 100)"},
    {"LearningRateInfinite", "    optimizer: {kind: adam, learningRate: 0.01}",
     "    optimizer: {learningRate: .inf}",
     "m.yaml:14: training.optimizer.learningRate: .inf is not allowed (use a number, above 0 … 100)"},
    {"DropoutOne", "    epochs: 100", "    dropout: 1.0",
     "m.yaml:13: training.dropout: 1.0 is not allowed (use a number, 0 … below 1)"},
    {"NegativeSeed", "    epochs: 100", "    seed: -1",
     "m.yaml:13: training.seed: -1 is not allowed (use an integer, at least 0)"},
    {"BadShorthand", "    epochs: 100", "    inputDropout: half",
     "m.yaml:13: training.inputDropout.rate: 'half' is not allowed (use a number, 0 … below 1)"},
    {"WeightDecayOnce", "    optimizer: {kind: adam, learningRate: 0.01}",
     "    optimizer: {weightDecay: many}",
     "m.yaml:14: training.optimizer.weightDecay.convolutions: 'many' is not allowed (use a number, 0 … 1)"},
    {"StrategyNotBuilt", "    kind: graph", "    kind: pipegcn",
     "m.yaml:16: strategy.kind: pipegcn is named in the manifest but not built yet; use graph"},
    {"StrategyNotBuiltWithItsBlock", "    kind: graph",
     "    kind: gnnpipe\n    gnnpipe: {stages: 4, chunks: 32}",
     "m.yaml:16: strategy.kind: gnnpipe is named in the manifest but not built yet; use graph"},
    {"BlockOfAnotherStrategy", "    kind: graph", "    kind: graph\n    gnnpipe: {stages: 4}",
     "m.yaml:17: strategy.gnnpipe: only the block named by strategy.kind may be present, and that is graph "
     "(remove it)"},
    {"UnknownStrategyOption", "    kind: graph", "    graph: {overlaps: true}",
     "m.yaml:16: strategy.graph.overlaps: unknown field (did you mean overlap? known: overlap)"},
    {"FlagIsAWord", "    kind: graph", "    graph: {overlap: maybe}",
     "m.yaml:16: strategy.graph.overlap: 'maybe' is not allowed (use true or false)"},
    {"LinkPrediction", "spec:", "spec:\n  task: linkPrediction",
     "m.yaml:6: task: linkPrediction is named in the manifest but not built yet; use nodeClassification"},
    {"Bfloat16", "    epochs: 100", "    precision: bfloat16",
     "m.yaml:13: training.precision: bfloat16 is named in the manifest but not built yet; use float32"},
    {"Bfloat16OnTheWire", "    kind: graph", "    wire: bfloat16",
     "m.yaml:16: strategy.wire: bfloat16 is named in the manifest but not built yet; use float32"},
    {"Gpu", "    ranks: 2", "    ranks: 2\n  resources: {nvidia.com/gpu: 1}",
     "m.yaml:19: resources.nvidia.com/gpu: ranks on GPUs are named in the manifest but not built yet; remove "
     "it to use CPUs"},
    {"RanksPerServer", "    ranks: 2", "    ranks: 8\n    ranksPerServer: 3",
     "m.yaml:19: placement.ranksPerServer: 3 does not divide placement.ranks 8 (use 1, 2, 4 or 8)"},
    {"NoRanks", "    ranks: 2", "    ranks: 0",
     "m.yaml:18: placement.ranks: 0 is not allowed (use an integer, 1 … 4096)"},
    {"LevelWeights", "    ranks: 2", "    ranks: 2\n    topologyLevels: [zone, host]\n    levelWeights: [1]",
     "m.yaml:20: placement.levelWeights: 1 weights for 2 topologyLevels (give one for each)"},
    {"MemoryInGB", "    ranks: 2", "    ranks: 2\n  resources: {memory: 16GB}",
     "m.yaml:19: resources.memory: '16GB' is not allowed (use a quantity of bytes like 16Gi, at least 0)"},
    {"NoDataset", "    name: cora", "    split: default",
     "m.yaml:6: dataset.name: is missing (name a folder under the data root, or give dataset.synthetic)"},
    {"DatasetTwice", "    name: cora", "    name: cora\n    synthetic: {kind: community, preset: reddit}",
     "m.yaml:8: dataset.synthetic: a data set is either named or synthetic (remove one)"},
    {"DatasetOutside", "    name: cora", "    name: ../cora",
     "m.yaml:7: dataset.name: '../cora' must be a folder under the data root (a relative path without ..)"},
    {"SyntheticWithoutSize", "    name: cora",
     "    synthetic: {kind: community, averageDegree: 5, features: 8, classes: 2}",
     "m.yaml:7: dataset.synthetic.vertices: is missing (give it, or a preset: reddit, products, yelp, "
     "flickr)"},
    {"PresetOfTwoSizes", "    name: cora",
     "    synthetic: {kind: community, preset: reddit, scale: 0.1, vertices: 5000}",
     "m.yaml:7: dataset.synthetic.vertices: 5000 vertices and scale 0.1 of preset reddit: both say its size "
     "(remove one)"},
    {"MoreRanksThanVertices", "    name: cora",
     "    synthetic: {kind: community, vertices: 1, averageDegree: 0, features: 8, classes: 2}",
     "m.yaml:18: placement.ranks: 2 ranks for 1 vertices (use at most one rank a vertex)"},
    {"AccuracyOfManyLabels", "    epochs: 100", "    loss: binaryCrossEntropy",
     "m.yaml:12: training.metric: accuracy needs one class per vertex, binaryCrossEntropy has several (use "
     "f1Micro or rocAuc)"},
    {"WarmupWithoutEnd", "    epochs: 100",
     "    epochs: 10\n    learningRateSchedule: {kind: cosine, warmupEpochs: 10}",
     "m.yaml:14: training.learningRateSchedule.warmupEpochs: 10 leaves nothing of 10 epochs (use less than "
     "training.epochs)"},
    {"ImpatientStop", "    epochs: 100", "    evaluateEvery: 5\n    earlyStopping: 3",
     "m.yaml:14: training.earlyStopping.patience: 3 is shorter than training.evaluateEvery 5 (use at least "
     "that)"},
    {"OutputOutside", "spec:", "spec:\n  output: {path: /etc}",
     "m.yaml:6: output.path: '/etc' must be a relative path without .. (locally it is inside ./runs; "
     "--output puts it elsewhere)"},
    {"KeyTwice", "    epochs: 100", "    epochs: 100\n    epochs: 200",
     "m.yaml:14: epochs is given twice (first at m.yaml:13): remove one"},
    {"MergeKey", "    epochs: 100", "    <<: {epochs: 100}",
     "m.yaml:13: merge keys (<<) are not allowed, as parsers disagree on what they mean: write the fields out, or name a whole value with an alias (*name)"},
    {"MergeOfAnAlias", "    epochs: 100", "    <<: *some",
     "m.yaml:13: not valid YAML: the referenced anchor is not defined"},
    {"MergeOfSeveral", "    hidden: 16", "    options: &o {a: 1}\n    <<: [*o, *o]",
     "m.yaml:12: merge keys (<<) are not allowed, as parsers disagree on what they mean: write the fields out, or name a whole value with an alias (*name)"},
    {"MergeInAFreeField", "spec:", "spec:\n  template:\n    spec:\n      <<: {nodeSelector: {}}",
     "m.yaml:8: merge keys (<<) are not allowed, as parsers disagree on what they mean: write the fields out, or name a whole value with an alias (*name)"},
    {"AliasOfNothing", "    epochs: 100", "    epochs: *many",
     "m.yaml:13: not valid YAML: the referenced anchor is not defined"},
    {"TwoJobs", "    ranks: 2", "    ranks: 2\n---\nkind: GNNJob",
     "m.yaml:20: kind: 2 GNNJobs in one file, the first at m.yaml:1 (give each a file of its own)"},
};

class BadManifest : public testing::TestWithParam<Case> {};

std::string changed(const Case& c) {
  std::string text = kValidManifest;
  const std::string line = std::string("\n") + c.line + "\n";
  const auto at = ("\n" + text).find(line);
  EXPECT_NE(at, std::string::npos) << c.line;
  return text.replace(at, std::string(c.line).size(), c.instead);
}

TEST_P(BadManifest, SaysWhereWhatAndWhatToDo) {
  try {
    parse_job(changed(GetParam()), "m.yaml");
    ADD_FAILURE() << "accepted:\n" << changed(GetParam());
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadManifest, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

std::string error_of(const std::string& text) {
  try {
    parse_job(text, "m.yaml");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BadManifestText, IsNamedWithItsLine) {
  EXPECT_EQ(error_of(""), "m.yaml: is empty (a manifest begins with apiVersion: atoll.dev/v1alpha1)");
  EXPECT_EQ(error_of("# nothing\n---\n"),
            "m.yaml: is empty (a manifest begins with apiVersion: atoll.dev/v1alpha1)");
  EXPECT_EQ(error_of("just words"),
            "m.yaml:1: is not a manifest (it must be a map with apiVersion, kind, …)");
  EXPECT_EQ(error_of("a: [1\nb: 2\n").substr(0, 26), "m.yaml:2: not valid YAML: ");
  EXPECT_EQ(error_of("kind: GNNJob\nspec: {output: {path: a\xec}}\n"),
            "m.yaml:2: byte 0xec is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(error_of("kind: \"\\uD800\"\n"), "m.yaml:1: not valid YAML: invalid unicode: 55296");
  EXPECT_EQ(error_of(", a\nkind: GNNJob\n"), "m.yaml: not valid YAML: more than 1000 documents");
  EXPECT_EQ(error_of("kind: A\n---\nkind: B\n"), "m.yaml: none of its 2 documents is of kind GNNJob");
  EXPECT_NE(error_of(std::string(2 << 20, ' ')).find("larger than the 1048576 bytes"), std::string::npos);
}

TEST(BadManifestText, AnAliasBombIsStopped) {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int k = 0; k < 9; ++k) text += "," + before;
    text += "]\n";
  }
  EXPECT_NE(error_of(text).find("more than 100000 values"), std::string::npos);
}

TEST(BadManifestText, AMergeKeyIsRefusedAndAnAliasTaken) {
  const std::string head =
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n"
      "  dataset: {name: a}\n  model: {kind: gcn, hidden: &width 24}\n";
  EXPECT_EQ(error_of(head + "  training: {epochs: *width}\n"), "accepted");
  EXPECT_EQ(parse_job(head + "  training: {epochs: *width}\n", "m.yaml").job.training.epochs, 24);
  EXPECT_EQ(error_of(head + "  training:\n    <<: {epochs: 3}\n    epochs: 4\n").substr(0, 27),
            "m.yaml:8: merge keys (<<) a");
}

TEST(BadManifestText, AllErrorsAreToldAtOnce) {
  const std::string error = error_of(
      "apiVersion: v1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n  dataset: {name: a}\n"
      "  model: {kind: gcn, layers: 0}\n  training: {epochs: -1}\n");
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 2) << error;
}

}  // namespace
}  // namespace atl
