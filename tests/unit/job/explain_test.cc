// The field table as users see it (explain, schema), and its completeness.
#include "job/fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/json.h"
#include "job/models.h"
#include "job/strategies.h"

namespace atl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Explain, AField) {
  EXPECT_EQ(explain("training.optimizer.learningRate"),
            "training.optimizer.learningRate\n"
            "  step size\n"
            "  takes     a number, above 0 … 100\n"
            "  default   0.01, 0.2 with sgc\n"
            "  source    Kipf & Welling 2017; Wu et al. 2019 (sgc)\n"
            "  changes   not allowed once a cluster has the job\n"
            "  resuming  must stay the same\n");
}

TEST(Explain, WhenAJobOnAClusterMayBeChanged) {
  EXPECT_THAT(explain("model.kind"), HasSubstr("changes   not allowed"));
  EXPECT_THAT(explain("placement.partitioner.kind"), HasSubstr("while the job is suspended"));
  EXPECT_THAT(explain("template"), HasSubstr("while the job is suspended"));
  EXPECT_THAT(explain("runPolicy.suspend"), HasSubstr("at any time"));
}

TEST(Explain, AnObjectListsItsFields) {
  const std::string text = explain("strategy");
  EXPECT_THAT(text, HasSubstr("kind"));
  EXPECT_THAT(text, HasSubstr("wire"));
  EXPECT_THAT(text, HasSubstr("graph"));
  EXPECT_THAT(explain("strategy.graph"), HasSubstr("overlap"));
  EXPECT_THAT(explain(""), HasSubstr("training"));
}

TEST(Explain, AllHasTheDetailsOfEveryField) {
  const std::string text = explain_all("");
  for (const Field& field : all_fields()) {
    EXPECT_THAT(text,
                HasSubstr(field.path + (field.of_kind.empty() ? "" : " (of " + field.of_kind + ")") + "\n"));
    if (!default_of(field).empty() && !field.required) {
      EXPECT_THAT(text, HasSubstr(default_of(field)));
    }
  }
}

TEST(Explain, ANumberThatStandsForADefaultIsTold) {
  EXPECT_THAT(explain("strategy.gnnpipe.chunks"), HasSubstr("default   0: 4 for each stage\n"));
}

TEST(Explain, ASamplersOwnDefaultsAreTold) {
  EXPECT_THAT(explain("placement.partitioner.objective"),
              AllOf(HasSubstr("default   volume, cut with sampler cluster\n"),
                    HasSubstr("Chiang et al. 2019 (sampler cluster)")));
  EXPECT_THAT(explain("placement.partitioner.parts"),
              HasSubstr("one a rank; with sampler cluster 160, or one a rank where these are more"));
  EXPECT_THAT(explain("strategy.minibatch.merged"),
              HasSubstr("default   0: a tenth of the graph's parts, rounded up\n"));
  EXPECT_THAT(explain("strategy.minibatch.draws"),
              HasSubstr("a third of the graph's vertices, at most 100000, with others 2000"));
  EXPECT_THAT(explain("strategy.minibatch.fanout"), HasSubstr("[15, 10, 5] is seed → 5 → 10 → 15"));
}

TEST(Explain, AllBelowAFieldHasNoOther) {
  const std::string text = explain_all("spec.training.optimizer");
  EXPECT_THAT(text,
              AllOf(HasSubstr("training.optimizer\n"), HasSubstr("training.optimizer.weightDecay.dense\n")));
  EXPECT_THAT(text, Not(HasSubstr("training.dropout")));
}

TEST(Explain, ASeedsRangeIsWhatAnApiServerHolds) {
  for (const char* seed : {"training.seed", "placement.partitioner.seed", "dataset.synthetic.seed"})
    EXPECT_THAT(explain(seed), AllOf(HasSubstr("0 … 2⁶³ − 1"),
                                     HasSubstr("takes     an integer, 0 … 9223372036854775807\n")));
}

TEST(Explain, ChoicesSayWhatTheyMean) {
  EXPECT_THAT(explain("training.precision"),
              testing::ContainsRegex("bfloat16 .*stored, gathered and sent in 16 bits"));
}

TEST(Explain, AnOptionBesideTheKindIsToldOnItsOwn) {
  EXPECT_THAT(explain("strategy.exact"), HasSubstr("(of auto)"));
  EXPECT_THROW(explain("strategy.auto"), Error);
}

TEST(Explain, OptionsOfEveryModelThatHasOne) {
  const std::string text = explain("model.options.aggregator");
  EXPECT_THAT(text, HasSubstr("(of sage)"));
  EXPECT_THAT(text, HasSubstr("(of resgcn)"));
}

std::string refusal_of(const std::string& path) {
  try {
    return explain(path);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Explain, ATypoNamesTheNearestPath) {
  EXPECT_EQ(refusal_of("training.epoch"), "training.epoch: no such field; did you mean training.epochs?");
}

TEST(Explain, AFieldOfAnotherSectionIsNamed) {
  EXPECT_EQ(refusal_of("training.weightDecay"),
            "training.weightDecay: no such field; did you mean training.optimizer.weightDecay?");
  EXPECT_EQ(refusal_of("lr"), "lr: no such field; did you mean training.optimizer.learningRate?");
  EXPECT_EQ(refusal_of("nothing.like.it"),
            "nothing.like.it: no such field; atoll explain --all lists the fields");
}

TEST(Schema, HoldsEveryFieldWithItsFacts) {
  const auto schema = parse_json(json_schema());
  const auto& spec = schema["properties"]["spec"];
  EXPECT_EQ(spec["additionalProperties"], false);
  EXPECT_EQ(spec["required"], nlohmann::json({"dataset", "model"}));
  const auto& training = spec["properties"]["training"]["properties"];
  EXPECT_EQ(training["epochs"]["type"], "integer");
  EXPECT_EQ(training["epochs"]["default"], 200);
  EXPECT_EQ(training["epochs"]["minimum"], 1);
  EXPECT_EQ(training["dropout"]["exclusiveMaximum"], 1);
  EXPECT_EQ(training["loss"]["enum"], nlohmann::json({"crossEntropy", "binaryCrossEntropy"}));
  EXPECT_EQ(training["optimizer"]["properties"]["weightDecay"]["anyOf"].size(), 2u);
  EXPECT_EQ(spec["properties"]["model"]["properties"]["options"]["properties"]["aggregator"]["anyOf"].size(),
            2u);
  EXPECT_EQ(spec["properties"]["resources"]["properties"]["memory"]["anyOf"].size(), 2u);
  EXPECT_TRUE(spec["properties"]["resources"]["properties"].contains("nvidia.com/gpu"));
}

TEST(FieldTable, EveryRowHasADescriptionAParentAndAValue) {
  std::set<std::string> objects{"", "metadata"}, seen;
  for (const Field& field : all_fields()) {
    EXPECT_FALSE(field.description.empty()) << field.path;
    EXPECT_TRUE(objects.contains(field_parent(field.path))) << field.path << " stands before its object";
    if (field.type == FieldType::kObject) objects.insert(field.path);
    EXPECT_EQ(field.type == FieldType::kObject, !field.slot) << field.path;
    EXPECT_EQ(field.type == FieldType::kChoice, !field.choices.empty()) << field.path;
    EXPECT_TRUE(seen.insert(field.path + " " + field.of_kind).second) << field.path << " is there twice";
  }
}

TEST(FieldTable, WhatOneRowSaysOfAnotherIsTrue) {
  std::set<std::string> paths;
  for (const Field& field : all_fields()) paths.insert(field.path);
  for (const Field& field : all_fields()) {
    for (const auto& name : field.shorthand)
      EXPECT_TRUE(paths.contains(field.path + "." + name)) << field.path;
    if (!field.used_with.path.empty()) {
      EXPECT_TRUE(paths.contains(field.used_with.path)) << field.path;
    }
  }
  for (const auto& model : model_infos()) {
    for (const auto& path : model.ignores) EXPECT_TRUE(paths.contains(path)) << path;
  }
}

TEST(GraphStrategy, LayoutGroupsConsecutiveRanks) {
  Job job;
  job.placement.ranks = 4;
  const auto* graph = find_strategy("graph");
  EXPECT_EQ(graph->layout(job).groups, (std::vector<std::vector<Rank>>{{0}, {1}, {2}, {3}}));
  job.placement.ranks_per_server = 2;
  EXPECT_EQ(graph->layout(job).groups, (std::vector<std::vector<Rank>>{{0, 1}, {2, 3}}));
}

TEST(GraphStrategy, BytesOfAnEpoch) {
  // 2 ranks, 1,000 halo rows, one learned input of 16 columns: 1000·16·4 bytes each way; 500 parameters.
  const EpochTraffic traffic = find_strategy("graph")->traffic(
      {}, {.ranks = 2, .halo_rows = 1000, .widths = {16}, .parameters = {300, 200}});
  EXPECT_EQ(traffic.halo, 64000);
  EXPECT_EQ(traffic.halo_gradient, 64000);
  EXPECT_EQ(traffic.gradient, 4000);
}

}  // namespace
}  // namespace atl
