// The table of models, and that texts for users name all of them.
#include "job/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "job/fields.h"
#include "job/load.h"
#include "where.h"

namespace atl {
namespace {

using testing::HasSubstr;

TEST(Models, TheReadmeNamesAllOfThem) {
  std::ifstream file(source_folder() / "README.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string kinds;
  for (const ModelInfo& info : model_infos()) kinds += " " + info.kind;
  EXPECT_THAT(text, HasSubstr("#" + kinds + "\n")) << "list them in README.md, in the first manifest";
}

TEST(Models, WhatARowNamesIsThere) {
  for (const ModelInfo& info : model_infos()) {
    EXPECT_FALSE(info.description.empty() || info.source.empty()) << info.kind;
    const auto fields = fields_for(info.kind, "graph");
    for (const std::string& path : info.reads) EXPECT_NE(find_field(fields, path), nullptr) << path;
    if (!info.layers_option.empty()) {
      EXPECT_NE(find_field(fields, "model.options." + info.layers_option), nullptr) << info.kind;
    }
    for (const Field& option : info.options) EXPECT_EQ(option.of_kind, info.kind) << option.path;
  }
}

TEST(Models, AnOptionCountsLayersWhereARowSaysSo) {
  ModelSpec sgc{.kind = "sgc", .layers = 7};
  sgc.options.set("hops", std::int64_t{3});
  EXPECT_EQ(gathering_layers(sgc), 3);
  EXPECT_EQ(layers_field(sgc), "model.options.hops");
  EXPECT_EQ(gathering_layers({.kind = "gcn", .layers = 7}), 7);
  EXPECT_EQ(layers_field({.kind = "gcn"}), "model.layers");
}

Job job_of(const std::string& model) {
  return parse_job(
             "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n"
             "  dataset: {name: cora}\n  model: " +
                 model,
             "m.yaml")
      .job;
}

TEST(Models, ADefaultOfItsOwnHoldsWhereNothingIsGiven) {
  const auto norm_of = [](const std::string& model) { return job_of(model).model.norm; };
  EXPECT_EQ(norm_of("{kind: gin}"), Norm::kLayer);
  EXPECT_EQ(norm_of("{kind: gin, norm: none}"), Norm::kNone);
  EXPECT_EQ(norm_of("{kind: gcn}"), Norm::kNone);
  EXPECT_THAT(explain("model.norm"), HasSubstr("default   none, layer with resgcn and gin"));
  EXPECT_THAT(explain("model.norm"), HasSubstr("source    Li et al. 2020, code (resgcn); "));
}

TEST(Models, DefaultsOfTheirOwnAreWrittenAsTheyAreTakenAndHaveASource) {
  for (const ModelInfo& info : model_infos()) {
    for (const OwnDefault& own : info.defaults) {
      const Field* field = find_field(fields_for(info.kind, "graph"), own.path);
      ASSERT_NE(field, nullptr) << info.kind << " " << own.path;
      Job job = job_of("{kind: " + info.kind + "}");
      EXPECT_EQ(value_text(*field, job), own.value) << info.kind << " " << own.path;
      EXPECT_NE(default_of(*field), own.value) << info.kind << " " << own.path;
      EXPECT_FALSE(own.source.empty()) << info.kind << " " << own.path;
    }
  }
}

}  // namespace
}  // namespace atl
