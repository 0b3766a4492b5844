// Counts that metrics are made of, of many rows, held to the reference.
#include "tensor/fixtures.h"
#include "tensor/reference/reference.h"

namespace atl {
namespace {
using namespace test;
using reference::expect_reference;

struct Predictions {
  Index rows, classes;
  Matrix logits = random_matrix(31, rows, classes);
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(std::size_t(rows), -1);
  std::vector<std::uint8_t> targets = std::vector<std::uint8_t>(std::size_t(rows * classes));
  std::vector<VertexId> selected;

  Predictions(Index rows_, Index classes_) : rows(rows_), classes(classes_) {
    for (Index r = 0; r < rows; ++r) {
      if (mix64(std::uint64_t(r)) % 3 == 0) continue;
      selected.push_back(VertexId(r));
      labels[std::size_t(r)] = std::int32_t(mix64(std::uint64_t(r) + 7) % std::uint64_t(classes));
    }
    for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = std::uint8_t(mix64(i) & 1);
  }
  View<const std::uint8_t> target_rows() const { return {targets.data(), rows, classes}; }
  std::span<const VertexId> selected_rows() const { return selected; }
};

constexpr std::pair<Index, Index> kShapes[] = {{0, 3}, {1, 1}, {50, 2}, {3000, 7}, {4000, 41}};

TEST(Metrics, CountWhatTheReferenceCounts) {
  for (const auto& [rows, classes] : kShapes)
    for (const int threads : {1, 3}) {
      const Predictions p(rows, classes);
      TestRank rank(threads);
      LabelCounts counts{1, 2};
      std::vector<ClassCounts> by_class(std::size_t(classes), {1, 2, 3}), by_label = by_class;
      std::vector<std::int64_t> confusions(std::size_t(classes * classes), 5);
      const std::int32_t* const labels = p.labels.data();
      expect_reference(rank.ctx, &count_classes, &reference::count_classes, p.logits, labels,
                       p.selected_rows(), &counts);
      expect_reference(rank.ctx, &count_labels, &reference::count_labels, p.logits, p.target_rows(),
                       p.selected_rows(), &counts);
      expect_reference(rank.ctx, &count_by_class, &reference::count_by_class, p.logits, labels,
                       p.selected_rows(), std::span(by_class));
      expect_reference(rank.ctx, &count_by_label, &reference::count_by_label, p.logits, p.target_rows(),
                       p.selected_rows(), std::span(by_label));
      expect_reference(rank.ctx, &count_confusions, &reference::count_confusions, p.logits, labels,
                       p.selected_rows(), std::span(confusions));
    }
}

TEST(Metrics, TheFirstOfEqualLogitsIsPredicted) {
  TestRank rank;
  Matrix logits(1, 4);
  logits.zero();
  const std::vector<VertexId> rows{0};
  std::vector<std::int32_t> labels{0};
  const auto right = [&] {
    return counted_by([&](LabelCounts* c) { count_classes(rank.ctx, logits, labels.data(), rows, c); }).right;
  };
  EXPECT_EQ(right(), 1);
  logits.at(0, 2) = logits.at(0, 3) = 1;
  labels[0] = 2;
  EXPECT_EQ(right(), 1);
}

}  // namespace
}  // namespace atl
