// What a user sees for each thing that can be wrong with a manifest: the whole message, with line and remedy.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "job/load.h"
#include "job/models.h"
#include "job/valid_manifest.h"

namespace atl {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Case {
  std::string name;
  std::string line;     // of the valid manifest, replaced …
  std::string instead;  // … by this
  std::string message;  // the whole error
};

/// "{model.kind}" stands for all of them.
std::string with_kinds(std::string message) {
  const std::string place = "{model.kind}";
  std::string kinds;
  for (const ModelInfo& info : model_infos()) kinds += (kinds.empty() ? "" : ", ") + info.kind;
  const auto at = message.find(place);
  return at == std::string::npos ? message : message.replace(at, place.size(), kinds);
}

/// The same cases are tried on an API server (tests/e2e/custom_resource), which has further members of its
/// own in them.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& row : parse_json(read_data("refused.json"))) {
    all.push_back({row.at("name"), row.at("line"), row.at("instead"), with_kinds(row.at("message"))});
  }
  return all;
}

class BadManifest : public testing::TestWithParam<Case> {};

std::string changed(const Case& c) {
  std::string text = kValidManifest;
  const auto at = ("\n" + text).find("\n" + c.line + "\n");
  EXPECT_NE(at, std::string::npos) << c.line;
  return text.replace(at, c.line.size(), c.instead);
}

TEST_P(BadManifest, SaysWhereWhatAndWhatToDo) {
  try {
    parse_job(changed(GetParam()), "m.yaml");
    ADD_FAILURE() << "accepted:\n" << changed(GetParam());
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(All, BadManifest, testing::ValuesIn(cases()),
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
  EXPECT_EQ(error_of("kind: A\n---\nkind: B\n"),
            "m.yaml: none of its 2 documents is a job (one needs kind: GNNJob)");
  EXPECT_NE(error_of(std::string(2 << 20, ' ')).find("larger than the 1048576 bytes"), std::string::npos);
}

constexpr const char* kHead =
    "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n  dataset: {name: a}\n";

TEST(BadManifestText, AFieldOfAnotherSectionIsNamed) {
  const auto error = [](const std::string& field) {
    return error_of(kHead + std::string("  model: {kind: gcn}\n  training: {") + field + "}\n");
  };
  EXPECT_THAT(
      error("learningRate: 0.1"),
      StartsWith(
          "m.yaml:7: training.learningRate: unknown field (did you mean training.optimizer.learningRate? "
          "known: epochs, "));
  EXPECT_THAT(error("batchSize: 8"),
              HasSubstr("training.batchSize: unknown field (did you mean strategy.minibatch.batchSize or "));
  EXPECT_THAT(error("hidden: 8"), HasSubstr("training.hidden: unknown field (did you mean model.hidden?"));
}

TEST(BadManifestText, FieldsOfOtherToolsAreKnownByName) {
  const auto error = [](const std::string& section, const std::string& field) {
    return error_of(kHead + std::string("  model: {kind: gcn") + (section == "model" ? ", " + field : "") +
                    "}\n  training: {" + (section == "training" ? field : "") + "}\n");
  };
  EXPECT_THAT(error("training", "lr: 0.1"),
              HasSubstr("training.lr: unknown field (did you mean training.optimizer.learningRate? known: "));
  EXPECT_THAT(error("training", "weight_decay: 0.1"),
              HasSubstr("did you mean training.optimizer.weightDecay?"));
  EXPECT_THAT(error("training", "optimizer: {lr: 0.1}"),
              HasSubstr("did you mean training.optimizer.learningRate?"));
  EXPECT_THAT(error("training", "num_neighbors: [10, 5]"),
              HasSubstr("did you mean strategy.minibatch.fanout or "));
  EXPECT_THAT(error("model", "hidden_channels: 8"), HasSubstr("did you mean model.hidden?"));
  EXPECT_THAT(error("model", "num_layers: 8"), HasSubstr("did you mean model.layers?"));
}

TEST(BadManifestText, ModelsOfOtherToolsAreKnownByName) {
  const auto error = [](const std::string& kind) {
    return error_of(kHead + ("  model: {kind: " + kind + "}\n"));
  };
  EXPECT_THAT(error("GraphSAGE"),
              StartsWith("m.yaml:6: model.kind: 'GraphSAGE' is unknown (did you mean sage? known: gcn"));
  for (const char* kind : {"mlp", "appnp", "gatv2", "rgcn", "hgt"})
    EXPECT_THAT(error(kind), HasSubstr(fmt::format("'{0}' is unknown ({0} isn't built; known: gcn", kind)));
  EXPECT_THAT(error("xyz"), HasSubstr("'xyz' is unknown (known: gcn"));
  EXPECT_THAT(error_of(kHead + std::string("  model: {kind: gcn}\n  task: regression\n")),
              HasSubstr("task: 'regression' is unknown (regression isn't built; known: nodeClassification"));
}

TEST(BadManifestText, ANumberOrBooleanInQuotesIsToldSo) {
  const auto error = [](const std::string& field) {
    return error_of(kHead + std::string("  model: {kind: gcn}\n  training: {") + field + "}\n");
  };
  EXPECT_THAT(
      error("optimizer: {learningRate: \"0.01\"}"),
      HasSubstr(
          "training.optimizer.learningRate: '0.01' is text: write it without quotes (use a number, above 0"));
  EXPECT_THAT(error("deterministic: 'true'"),
              HasSubstr("'true' is text: write it without quotes (use true or false)"));
  EXPECT_THAT(error("epochs: ten"), HasSubstr("'ten' is not allowed (use an integer"));
  EXPECT_THAT(error("epochs: 'true'"), HasSubstr("'true' is not allowed (use an integer"));
  EXPECT_THAT(error("epochs: \"\\e[2J" + std::string(50, 'x') + "\""), HasSubstr("'\\x1b[2Jxxx"));
}

TEST(BadManifestText, ATabIsNamedWithItsLine) {
  EXPECT_EQ(error_of(kHead + std::string("  model:\n\tkind: gcn\n")),
            "m.yaml:7: not valid YAML: the line is indented with a tab; use spaces");
}

/// What `kubectl get gnnjobs -o yaml` prints.
TEST(BadManifestText, AListHoldsItsItems) {
  const auto item = [](const char* name) {
    return fmt::format(
        "- apiVersion: atoll.dev/v1alpha1\n  kind: GNNJob\n  metadata: {{name: {}}}\n"
        "  spec: {{dataset: {{name: a}}, model: {{kind: gcn}}}}\n",
        name);
  };
  const std::string head = "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: ''}\nitems:\n";
  EXPECT_EQ(parse_job(head + item("one"), "m.yaml").job.name, "one");
  EXPECT_EQ(error_of(head + item("one") + item("two")),
            "m.yaml:9: kind: 2 GNNJobs in one file, the first at m.yaml:5 (give each a file of its own)");
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

/// ranks: 0 leaves the default, 1, which no pipeline of 4 stages goes with, but nobody wrote that.
TEST(BadManifestText, FieldsAreComparedOnceEachIsRightByItself) {
  EXPECT_EQ(error_of("apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n"
                     "  dataset: {name: a}\n  model: {kind: gcn, layers: 4}\n  placement: {ranks: 0}\n"
                     "  strategy: {kind: gnnpipe, gnnpipe: {stages: 4}}\n"),
            "m.yaml:7: placement.ranks: 0 is not allowed (use an integer, 1 … 4096)");
}

TEST(BadManifestText, AllErrorsAreToldAtOnce) {
  const std::string error = error_of(
      "apiVersion: v1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n  dataset: {name: a}\n"
      "  model: {kind: gcn, layers: 0}\n  training: {epochs: -1}\n");
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 2) << error;
}

}  // namespace
}  // namespace atl
