// The neutral layout as tools write it: labels of any kind, splits of masks or ids, ids from 1, no split.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/dataset.h"
#include "dataset/export.h"
#include "dataset/format/npz.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// NumPy's unicode text: ASCII letters of four bytes, `width` an element.
void write_words(const std::filesystem::path& path, const std::vector<std::string>& words,
                 std::size_t width) {
  const Index shape[] = {Index(words.size())};
  std::string text = npy_header("<U" + std::to_string(width), shape);
  for (const std::string& word : words) {
    for (std::size_t i = 0; i < width; ++i) text += {i < word.size() ? word[i] : '\0', '\0', '\0', '\0'};
  }
  write_text(path, text);
}

class AsGiven : public ::testing::Test {
 protected:
  AsGiven() {
    write_array(folder_ / "in/edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1, 0, 1, 2, 2, 1},
                {2});
  }

  Dataset import(const char* source = "in") {
    options_.replace = true;
    warnings_.clear();
    reports_.clear();
    import_dataset(
        "npy", folder_ / source, folder_ / "out", options_,
        [this](const std::string& line) { reports_ += line + "\n"; },
        [this](const std::string& line) { warnings_ += line + "\n"; });
    return Dataset::open(folder_ / "out");
  }
  template <class T>
  void labels(Dtype dtype, const std::vector<T>& values, std::vector<Index> row_shape = {}) {
    write_array(folder_ / "in/labels.npy", dtype, values, std::move(row_shape));
  }
  template <class T>
  std::vector<int> split_of(Dtype dtype, const std::vector<std::vector<T>>& parts,
                            const char* validation = "val") {
    {
      NpzWriter archive(folder_ / "in/split.npz");
      const char* const names[] = {"train", validation, "test"};
      for (std::size_t p = 0; p < 3; ++p) {
        const Index shape[] = {Index(parts[p].size())};
        archive.add(names[p], dtype, shape, std::span<const T>(parts[p]));
      }
      archive.finish();
    }
    const Dataset dataset = import();
    const View<const std::uint8_t> split = dataset.split("default");
    return {split.data, split.data + split.rows};
  }

  TemporaryFolder folder_;
  ImportOptions options_;
  std::string warnings_, reports_;
};

TEST_F(AsGiven, ClassesWithoutVerticesAreTold) {
  labels(Dtype::kInt32, std::vector<std::int32_t>{0, 10, 20});
  EXPECT_EQ(import().meta().classes, 21);
  EXPECT_THAT(warnings_, HasSubstr("classes 0 … 20, and no vertex has 1 … 9, 11 … 19"));
  EXPECT_THAT(warnings_, HasSubstr("--relabel"));
  labels(Dtype::kInt32, std::vector<std::int32_t>{1, 2, 1});
  import();
  EXPECT_THAT(warnings_, HasSubstr("no vertex has 0."));
}

TEST_F(AsGiven, RelabelNumbersWhatIsThereAndKeepsWhatItWas) {
  labels(Dtype::kInt32, std::vector<std::int32_t>{100, -1, -7});
  options_.relabel = true;
  const Dataset dataset = import();
  EXPECT_THAT(dataset.labels(), ElementsAre(1, -1, 0));
  EXPECT_THAT(dataset.meta().class_names, ElementsAre("-7", "100"));
  EXPECT_THAT(warnings_, ::testing::Not(HasSubstr("--relabel")));
  labels(Dtype::kInt32, std::vector<std::int32_t>{1, 0, -1});
  EXPECT_THAT(import().meta().class_names, ElementsAre());
}

TEST_F(AsGiven, TextIsNumberedAndComesBackFromAnExport) {
  write_words(folder_ / "in/labels.npy", {"dog", "", "cat"}, 4);
  const Dataset dataset = import();
  EXPECT_THAT(dataset.labels(), ElementsAre(1, -1, 0));
  EXPECT_THAT(dataset.meta().class_names, ElementsAre("cat", "dog"));
  export_dataset(dataset, folder_ / "exported", false);
  EXPECT_THAT(import("exported").meta().class_names, ElementsAre("cat", "dog"));
}

/// pandas' missing values are "nan" once astype(str) has made them text.
TEST_F(AsGiven, AMissingLabelThatBecameTextIsDoubted) {
  write_words(folder_ / "in/labels.npy", {"dog", "nan", "cat"}, 4);
  EXPECT_EQ(import().meta().classes, 3);
  EXPECT_THAT(warnings_,
              HasSubstr("labels.npy: the text 'nan' is taken as a class; where it means that a label "
                        "is missing, save ''"));
  write_words(folder_ / "in/labels.npy", {"dog", "", "cat"}, 4);
  import();
  EXPECT_THAT(warnings_, ::testing::Not(HasSubstr("missing")));
}

TEST_F(AsGiven, FilesOfOtherNamesAreNamed) {
  labels(Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1});
  write_text(folder_ / "in/README.txt", "mine");
  write_text(folder_ / "in/notes.md", "mine");
  import();
  EXPECT_THAT(reports_, ::testing::Not(HasSubstr("not read")));
  const std::vector<float> features(3, 1);
  write_array(folder_ / "in/features_b.npy", Dtype::kFloat32, features, {1});
  import();
  EXPECT_THAT(reports_, HasSubstr("features are taken from features_b.npy"));
  write_array(folder_ / "in/features.npy", Dtype::kFloat32, features, {1});
  import();
  EXPECT_THAT(reports_, HasSubstr("features_b.npy is not used; rename it to features.npy"));
  for (const char* name : {"x.npy", "features.csv"}) write_text(folder_ / "in" / name, "");
  import();
  EXPECT_THAT(reports_, HasSubstr("not read: features.csv, x.npy. The layout's names are edges.npy"));
  std::filesystem::remove(folder_ / "in/edges.npy");
  EXPECT_THAT(
      [this] { import(); },
      testing::ThrowsMessage<Error>(HasSubstr("has no edges.npy, but features.csv, x.npy; give a folder")));
}

/// The ids in arcs don't tell whether a mask has a row for each vertex.
TEST_F(AsGiven, ASplitIsLeftOutAloudWhereNothingTellsTheNumberOfVertices) {
  labels(Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1});
  const std::vector<std::vector<std::uint8_t>> masks{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_THAT(split_of(Dtype::kUint8, masks), ElementsAre(1, 2, 3));
  EXPECT_THAT(warnings_, ::testing::Not(HasSubstr("split.npz")));
  std::filesystem::remove(folder_ / "in/labels.npy");
  EXPECT_TRUE(import().meta().splits.empty());
  EXPECT_THAT(warnings_,
              HasSubstr("split.npz is not used, because nothing says how many vertices there are; give "
                        "num_nodes in meta.json"));
  write_text(folder_ / "in/meta.json", R"({"num_nodes": 3})");
  EXPECT_EQ(import().meta().splits.count("default"), 1U);
}

TEST_F(AsGiven, OneHotRowsAreOneClassAVertex) {
  labels(Dtype::kFloat32, std::vector<float>{0, 1, 1, 0, 1, 0}, {2});
  const Dataset one_hot = import();
  EXPECT_THAT(one_hot.labels(), ElementsAre(1, 0, 0));
  EXPECT_FALSE(one_hot.meta().multi_label);
  labels(Dtype::kFloat32, std::vector<float>{0, 1, 0, 0, 1, 0}, {2});
  EXPECT_TRUE(import().meta().multi_label) << "a row of zeros may be a vertex of no class";
  EXPECT_THAT(warnings_, HasSubstr("labels.argmax(1) with -1 for rows of zeros"));
  labels(Dtype::kFloat32, std::vector<float>{0, 1, 1, 0, 1, 0}, {2});
  write_text(folder_ / "in/meta.json", R"({"multilabel": true})");
  EXPECT_TRUE(import().meta().multi_label);
}

TEST_F(AsGiven, LabelsMayBeAColumnOrFloats) {
  labels(Dtype::kInt64, std::vector<std::int64_t>{0, 1, 1}, {1});
  EXPECT_THAT(import().labels(), ElementsAre(0, 1, 1));
  labels(Dtype::kFloat64, std::vector<double>{1, std::numeric_limits<double>::quiet_NaN(), 0});
  EXPECT_THAT(import().labels(), ElementsAre(1, -1, 0));
}

TEST_F(AsGiven, PartsAreMasksOfAnyNumberOrIds) {
  labels(Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1});
  const auto expected = ElementsAre(1, 3, 2);
  EXPECT_THAT(split_of<std::int64_t>(Dtype::kInt64, {{1, 0, 0}, {0, 0, 1}, {0, 1, 0}}), expected);
  EXPECT_THAT(split_of<float>(Dtype::kFloat32, {{1, 0, 0}, {0, 0, 1}, {0, 1, 0}}, "valid_mask"), expected);
  EXPECT_THAT(split_of<std::int64_t>(Dtype::kInt64, {{0}, {2}, {1}}, "valid"), expected);
  EXPECT_THAT(split_of<double>(Dtype::kFloat64, {{0}, {}, {2, 1}}), ElementsAre(1, 3, 3));
}

TEST_F(AsGiven, IdsMayCountFromOne) {
  write_array(folder_ / "in/edges.npy", Dtype::kInt32, std::vector<std::int32_t>{1, 2, 2, 1, 2, 3, 3, 2},
              {2});
  import();
  EXPECT_THAT(warnings_, HasSubstr("ids run from 1 to 3. If they count from 1, add --one-based"));
  options_.one_based = true;
  labels(Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1});
  EXPECT_THAT(split_of<std::int64_t>(Dtype::kInt64, {{1}, {3}, {2}}), ElementsAre(1, 3, 2));
  EXPECT_THAT(import().graph().row(1), ElementsAre(0, 2));
}

/// Whoever else is in the data set: a vertex's part follows from its original id and the seed.
TEST_F(AsGiven, SplitsAreDrawnByOriginalId) {
  constexpr Index kVertices = 2000;
  std::vector<std::int32_t> classes(kVertices, 0);
  classes[0] = -1;
  classes[1] = 1;
  std::vector<std::int64_t> ids, turned;
  for (Index v = 0; v < kVertices; ++v) ids.push_back(3 * v);
  turned.assign(ids.rbegin(), ids.rend());
  labels(Dtype::kInt32, classes);
  import();
  EXPECT_THAT(warnings_, HasSubstr("there is no split, and training needs one: add --split random:60/20/20"));
  options_.split = parse_drawn_split("random:60/20/20", 7);
  const auto drawn = [&](const std::vector<std::int64_t>& original) {
    write_array(folder_ / "in/original_ids.npy", Dtype::kInt64, original);
    const Dataset dataset = import();
    const View<const std::uint8_t> split = dataset.split("default");
    return std::vector<int>(split.data, split.data + split.rows);
  };
  const std::vector<int> forward = drawn(ids), backward = drawn(turned);
  EXPECT_EQ(warnings_, "");
  EXPECT_EQ(forward[0], 0) << "an unlabelled vertex is in no part";
  EXPECT_EQ(std::vector<int>(forward.begin() + 1, forward.end() - 1),
            std::vector<int>(backward.rbegin() + 1, backward.rend() - 1));
  EXPECT_NEAR(double(std::count(forward.begin(), forward.end(), 1)) / kVertices, 0.6, 0.04);
  EXPECT_NEAR(double(std::count(forward.begin(), forward.end(), 3)) / kVertices, 0.2, 0.04);
  options_.split->seed = 8;
  EXPECT_NE(drawn(ids), forward);
}

/// Otherwise whoever asked for it would train on the other without a word.
TEST_F(AsGiven, ADrawnSplitBesideTheSourcesOwnIsTold) {
  labels(Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1});
  options_.split = parse_drawn_split("random:100/0/0", 1);
  import();
  EXPECT_THAT(reports_, testing::Not(HasSubstr("dataset.split")));
  split_of<std::int64_t>(Dtype::kInt64, {{0}, {2}, {1}});
  EXPECT_THAT(reports_, HasSubstr("with dataset.split: random it takes the drawn one"));
}

TEST(DrawnSplits, AreRefusedUnlessTheyArePercent) {
  for (const char* text :
       {"random", "random:60/20", "random:60/20/30", "random:0/50/50", "random:60/20/20/", "60/20/20"})
    EXPECT_THROW(parse_drawn_split(text, 1), Error) << text;
  EXPECT_EQ(parse_drawn_split("random:1/1/98", 1).test, 0.98);
  EXPECT_NO_THROW(parse_drawn_split("random:68.2/15.9/15.9", 1)) << "100 together, but for rounding";
}

/// PyG's and scikit-learn's splits are shares of 1, which would leave 13 of Cora's vertices to train on.
TEST(DrawnSplits, AreRefusedIfTheyAreSharesOfOne) {
  EXPECT_THAT([] { parse_drawn_split("random:0.6/0.2/0.2", 1); },
              testing::ThrowsMessage<Error>(HasSubstr(
                  "'random:0.6/0.2/0.2' draws 1 % of the labelled vertices: the numbers are percent, "
                  "not shares of 1 (use random:60/20/20)")));
  EXPECT_THROW(parse_drawn_split("random:0.33/0.33/0.33", 1), Error);
  EXPECT_EQ(parse_drawn_split("random:0.1/0.1/0.1", 1).test, 0.001)
      << "a tenth of a percent of a large graph";
}

}  // namespace
}  // namespace atl
