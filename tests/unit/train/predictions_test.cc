#include "train/predictions.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "dataset/format/npy.h"
#include "temporary_folder.h"

namespace atl {
namespace {

using testing::ElementsAre;

using Content = VertexRowsFile::Content;

/// The logits of vertices 0 … 3 put by two ranks, in no order.
void put_by_two_ranks(VertexRowsFile& file) {
  const std::vector<VertexId> first{2, 3}, second{1, 0};
  const std::vector<Real> logits_of_2_3{-1, Real(0.5), Real(0.5), 3, -2, 1};
  const std::vector<Real> logits_of_1_0{0, 0, Real(0.1), -3, -1, -2};
  file.put(first, {logits_of_2_3.data(), 2, 3});
  file.put({}, {});
  file.put(second, {logits_of_1_0.data(), 2, 3});
  file.commit();
}

TEST(Predictions, TheLargestLogitsClassTheFirstOfEquals) {
  TemporaryFolder folder;
  const VertexOrder order = vertex_order(4, {});
  VertexRowsFile file(folder / "predictions.npy", order, 3, Content::kClass);
  put_by_two_ranks(file);
  const NpyArray array = NpyArray::open(folder / "predictions.npy");
  EXPECT_EQ(array.description(), "int32 (4)");
  EXPECT_THAT(array.read<std::int32_t>(), ElementsAre(1, 2, 1, 0));
}

TEST(Predictions, MultiLabelIsALogitAboveZero) {
  TemporaryFolder folder;
  const VertexOrder order = vertex_order(4, {});
  VertexRowsFile file(folder / "predictions.npy", order, 3, Content::kClasses);
  put_by_two_ranks(file);
  const NpyArray array = NpyArray::open(folder / "predictions.npy");
  EXPECT_EQ(array.description(), "uint8 (4, 3)");
  EXPECT_THAT(array.read<std::uint8_t>(), ElementsAre(0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1));
}

TEST(Predictions, ShuffledIdsGoBackToTheirRows) {
  TemporaryFolder folder;
  const std::vector<std::int64_t> original{3, 0, 1, 2};  // our vertex 0 was 3
  const VertexOrder order = vertex_order(4, original);
  EXPECT_TRUE(order.ids.empty());
  VertexRowsFile file(folder / "predictions.npy", order, 3, Content::kClass);
  put_by_two_ranks(file);
  write_file_atomically(folder / "vertex_ids.npy", "of an earlier data set");
  write_vertex_ids(folder / "vertex_ids.npy", order);
  EXPECT_THAT(NpyArray::open(folder / "predictions.npy").read<std::int32_t>(), ElementsAre(2, 1, 0, 1));
  EXPECT_FALSE(std::filesystem::exists(folder / "vertex_ids.npy"));
}

TEST(Predictions, IdsThatArentRowNumbersAreSortedAndListed) {
  TemporaryFolder folder;
  const std::vector<std::int64_t> original{500, 7, 1000000000000, 12};
  const VertexOrder order = vertex_order(4, original);
  VertexRowsFile file(folder / "predictions.npy", order, 3, Content::kClass);
  put_by_two_ranks(file);
  write_vertex_ids(folder / "vertex_ids.npy", order);
  EXPECT_THAT(NpyArray::open(folder / "vertex_ids.npy").read<std::int64_t>(),
              ElementsAre(7, 12, 500, 1000000000000));
  EXPECT_THAT(NpyArray::open(folder / "predictions.npy").read<std::int32_t>(), ElementsAre(2, 0, 1, 1));
}

TEST(Predictions, EmbeddingsAreFloat32WhateverWeComputeIn) {
  TemporaryFolder folder;
  const VertexOrder order = vertex_order(4, {});
  VertexRowsFile file(folder / "embeddings.npy", order, 3, Content::kValues);
  put_by_two_ranks(file);
  const NpyArray array = NpyArray::open(folder / "embeddings.npy");
  EXPECT_EQ(array.description(), "float32 (4, 3)");
  EXPECT_THAT(array.read<float>(), ElementsAre(-3, -1, -2, 0, 0, 0.1f, -1, 0.5f, 0.5f, 3, -2, 1));
}

std::vector<float> stored(Content content) {
  TemporaryFolder folder;
  const VertexOrder order = vertex_order(4, {});
  VertexRowsFile file(folder / "probabilities.npy", order, 3, content);
  put_by_two_ranks(file);
  const NpyArray array = NpyArray::open(folder / "probabilities.npy");
  EXPECT_EQ(array.description(), "float32 (4, 3)");
  return array.read<float>();
}

TEST(Predictions, ProbabilitiesOfClassesAddUpToOne) {
  const std::vector<float> shares = stored(Content::kShares);
  const double sum = std::exp(-3.0) + std::exp(-1.0) + std::exp(-2.0);  // vertex 0
  EXPECT_FLOAT_EQ(shares[0], float(std::exp(-3.0) / sum));
  EXPECT_FLOAT_EQ(shares[1], float(std::exp(-1.0) / sum));
  for (std::size_t v = 0; v < 4; ++v)
    EXPECT_NEAR(shares[3 * v] + shares[3 * v + 1] + shares[3 * v + 2], 1, 1e-6) << v;
}

TEST(Predictions, ProbabilitiesOfSeveralLabelsAreEachOnes) {
  const std::vector<float> chances = stored(Content::kChances);
  EXPECT_FLOAT_EQ(chances[0], float(1 / (1 + std::exp(3.0))));
  EXPECT_FLOAT_EQ(chances[3], 0.5F) << "a logit of 0";
}

TEST(Predictions, ProbabilitiesOfHugeLogitsAreFinite) {
  TemporaryFolder folder;
  const VertexOrder order = vertex_order(1, {});
  const std::vector<Real> logits{30000, -30000};
  for (const Content content : {Content::kShares, Content::kChances}) {
    VertexRowsFile file(folder / "probabilities.npy", order, 2, content);
    file.put(std::vector<VertexId>{0}, {logits.data(), 1, 2});
    file.commit();
    EXPECT_THAT(NpyArray::open(folder / "probabilities.npy").read<float>(), ElementsAre(1.0F, 0.0F));
  }
}

TEST(Predictions, ManyRowsInAnyOrder) {
  constexpr Index kVertices = 20'000;
  TemporaryFolder folder;
  std::vector<std::int64_t> original(kVertices);
  for (Index v = 0; v < kVertices; ++v) original[std::size_t(v)] = v ^ 1;  // neighbours swapped
  const VertexOrder order = vertex_order(kVertices, original);
  VertexRowsFile file(folder / "e.npy", order, 2, Content::kValues);
  std::vector<VertexId> vertices(kVertices);
  std::vector<Real> rows(std::size_t(kVertices) * 2);
  for (Index v = 0; v < kVertices; ++v) {
    vertices[std::size_t(v)] = VertexId(v);
    rows[std::size_t(v) * 2] = Real(v);
  }
  file.put(vertices, {rows.data(), kVertices, 2});
  file.commit();
  const std::vector<float> read = NpyArray::open(folder / "e.npy").read<float>();
  for (Index v = 0; v < kVertices; ++v) ASSERT_EQ(read[std::size_t(v) * 2], float(v ^ 1));
}

TEST(Predictions, NothingIsLeftOfAFileThatWasNotCommitted) {
  TemporaryFolder folder;
  const VertexOrder order = vertex_order(4, {});
  { VertexRowsFile file(folder / "predictions.npy", order, 3, Content::kClass); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace atl
