// The table of models, and that what people read names all of it.
#include "job/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "job/fields.h"

namespace atl {
namespace {

using testing::HasSubstr;

TEST(Models, TheReadmeNamesAllOfThem) {
  std::ifstream file(std::filesystem::path(ATOLL_SOURCE_DIR) / "README.md");
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

}  // namespace
}  // namespace atl
