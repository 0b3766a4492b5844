// Counts that metrics are made of, against a loop over the selected rows.
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;

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
  Index predicted(Index row) const {
    Index best = 0;
    for (Index c = 1; c < classes; ++c) {
      if (logits.at(row, c) > logits.at(row, best)) best = c;
    }
    return best;
  }
};

constexpr std::pair<Index, Index> kShapes[] = {{0, 3}, {1, 1}, {50, 2}, {3000, 7}, {4000, 41}};

TEST(Metrics, CountsRowsOfTheirClass) {
  for (const auto& [rows, classes] : kShapes) {
    const Predictions p(rows, classes);
    Index right = 0;
    for (const VertexId r : p.selected) right += p.predicted(r) == p.labels[std::size_t(r)] ? 1 : 0;
    for (const int threads : {1, 3}) {
      TestRank rank(threads);
      const LabelCounts counts = counted_by(
          [&](LabelCounts* c) { count_classes(rank.ctx, p.logits, p.labels.data(), p.selected, c); });
      EXPECT_EQ(counts.right, right);
      EXPECT_EQ(counts.right + counts.wrong, Index(p.selected.size()));
    }
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

TEST(Metrics, CountsLabelsRightlyAndWronglyPredicted) {
  for (const auto& [rows, classes] : kShapes) {
    const Predictions p(rows, classes);
    Index right = 0, missed = 0, invented = 0;
    for (const VertexId r : p.selected) {
      for (Index c = 0; c < p.classes; ++c) {
        const bool is = p.targets[std::size_t(r * p.classes + c)] != 0, predicted = p.logits.at(r, c) > 0;
        right += is && predicted ? 1 : 0;
        missed += is && !predicted ? 1 : 0;
        invented += !is && predicted ? 1 : 0;
      }
    }
    const View<const std::uint8_t> targets(p.targets.data(), rows, classes);
    for (const int threads : {1, 3}) {
      TestRank rank(threads);
      const LabelCounts counts =
          counted_by([&](LabelCounts* c) { count_labels(rank.ctx, p.logits, targets, p.selected, c); });
      EXPECT_EQ(counts.right, right);
      EXPECT_EQ(counts.wrong, missed + invented);
    }
  }
}

void expect_counts(const std::vector<ClassCounts>& counts, const std::vector<ClassCounts>& want) {
  for (std::size_t c = 0; c < want.size(); ++c) {
    EXPECT_EQ(counts[c].hits, want[c].hits) << c;
    EXPECT_EQ(counts[c].predicted, want[c].predicted) << c;
    EXPECT_EQ(counts[c].actual, want[c].actual) << c;
  }
}

TEST(Metrics, CountsByClass) {
  for (const auto& [rows, classes] : kShapes) {
    const Predictions p(rows, classes);
    std::vector<ClassCounts> want(std::size_t(classes), ClassCounts{}), counts(want.size(), {1, 2, 3});
    for (const VertexId r : p.selected) {
      const Index predicted = p.predicted(r), actual = p.labels[std::size_t(r)];
      want[std::size_t(predicted)].predicted += 1;
      want[std::size_t(actual)].actual += 1;
      want[std::size_t(actual)].hits += predicted == actual ? 1 : 0;
    }
    TestRank rank(3);
    count_by_class(rank.ctx, p.logits, p.labels.data(), p.selected, counts);
    expect_counts(counts, want);
  }
}

TEST(Metrics, CountsByLabel) {
  for (const auto& [rows, classes] : kShapes) {
    const Predictions p(rows, classes);
    std::vector<ClassCounts> want(std::size_t(classes), ClassCounts{}), counts(want.size(), {1, 2, 3});
    for (const VertexId r : p.selected) {
      for (Index c = 0; c < p.classes; ++c) {
        const bool is = p.targets[std::size_t(r * p.classes + c)] != 0, predicted = p.logits.at(r, c) > 0;
        want[std::size_t(c)].predicted += predicted ? 1 : 0;
        want[std::size_t(c)].actual += is ? 1 : 0;
        want[std::size_t(c)].hits += is && predicted ? 1 : 0;
      }
    }
    const View<const std::uint8_t> targets(p.targets.data(), rows, classes);
    TestRank rank(3);
    count_by_label(rank.ctx, p.logits, targets, p.selected, counts);
    expect_counts(counts, want);
  }
}

TEST(Metrics, CountsConfusionsOfLabelWithPrediction) {
  TestRank rank;
  const Predictions p(3000, 7);
  std::vector<std::int64_t> counts(49, 5), want(49, 0);
  count_confusions(rank.ctx, p.logits, p.labels.data(), p.selected, counts);
  for (const VertexId r : p.selected) {
    ++want[std::size_t(p.labels[std::size_t(r)]) * 7 + std::size_t(p.predicted(r))];
  }
  EXPECT_EQ(counts, want);
}

}  // namespace
}  // namespace atl
