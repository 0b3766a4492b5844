// Broken labels and splits of the neutral layout.
#include "dataset/import/good_npy.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

void write_split(const fs::path& path, std::vector<std::uint8_t> train, std::vector<std::uint8_t> val,
                 std::vector<std::uint8_t> test) {
  NpzWriter archive(path);
  for (const auto& [name, mask] :
       {std::pair("train", train), std::pair("val", val), std::pair("test", test)}) {
    const Index shape[] = {Index(mask.size())};
    archive.add(name, Dtype::kBool, shape, std::span<const std::uint8_t>(mask));
  }
  archive.finish();
}

/// The same array for train, val and test.
template <class T>
void write_parts(const fs::path& path, const std::vector<Index>& shape, const std::vector<T>& elements) {
  NpzWriter archive(path);
  for (const char* part : {"train", "val", "test"})
    archive.add(part, Dtype::kInt64, shape, std::span<const T>(elements));
  archive.finish();
}

// clang-format off
const BadInput kCases[] = {
    {"label_too_large", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt64, std::vector<std::int64_t>{0, 1, 2});
     }, {"labels.npy: row 2", "label is 2", "0 … 1", "--relabel"}},
    {"label_below_minus_one", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>{0, -2, 1});
     }, {"labels.npy: row 1", "-2", "unlabelled"}},
    {"label_fraction", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kFloat32, std::vector<float>{0, 0.5f, 1});
     }, {"labels.npy: row 1", "0.5", "Atoll predicts classes, not numbers (regression isn't built)", "or text"}},
    {"labels_of_few_fractions", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kFloat32, std::vector<float>{0.5f, 0.5f, 1.5f, 1.5f});
     }, {"labels.npy: row 0: the label is 0.5", "regression isn't built",
         "if these 2 values are names of classes, save labels.astype(str)"}},
    {"targets_of_numbers", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kFloat32, std::vector<float>{0, 1, 1.25f, 0, 1, 1}, {2});
     }, {"labels.npy: row 1", "class 0 is 1.25", "regression isn't built"}},
    {"labels_too_few", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1});
     }, {"labels for 2 of 3 vertices", "give one row per vertex"}},
    {"target_not_binary", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 2, 0, 1, 1}, {2});
     }, {"labels.npy: row 1", "class 0 is 2", "0 and 1", "one class per vertex as (3)"}},
    {"target_negative", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt8, std::vector<std::int8_t>{0, 1, 1, -1, 1, 1}, {2});
     }, {"labels.npy: row 1", "class 1 is -1", "0 and 1"}},
    {"labels_transposed", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 2}, {3});
     }, {"labels.npy", "(1, 3) for 3 vertices", ".T"}},
    {"label_beyond_32_bits", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt64, std::vector<std::int64_t>{0, 1, 5000000000});
     }, {"labels.npy: row 2", "5000000000", "astype(str)"}},
    {"label_of_too_many_classes", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "meta.json", "{}");
       write_array(f / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 2147483647});
     }, {"labels.npy: row 2", "2147483647", "--relabel"}},
    {"class_names_too_few", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "meta.json", R"({"num_classes": 2, "class_names": ["one"]})");
     }, {"meta.json", "class_names", "num_classes (2)"}},
    {"split_drawn_without_labels", "npy", "", [](const fs::path& f) {
       good_npy(f);
       fs::remove(f / "labels.npy");
     }, {"--split", "no labels"}, [](ImportOptions& o) { o.split = DrawnSplit{0.6, 0.2, 0.2, 1}; }},
    {"split_overlaps", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_split(f / "split.npz", {1, 0, 0}, {0, 1, 0}, {1, 0, 1});
     }, {"split.npz:test", "vertex 0 is in both train and test", "column 0"}},
    {"split_without_training", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_split(f / "split.npz", {0, 0, 0}, {0, 1, 0}, {1, 0, 1});
     }, {"split.npz", "column 0 has no training vertex", "mark at least one"}},
    {"split_too_short", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_split(f / "split.npz", {1, 0}, {0, 1}, {0, 0});
     }, {"split.npz:train", "bool (2)", "(3)"}},
    {"split_without_test", "npy", "", [](const fs::path& f) {
       good_npy(f);
       NpzWriter archive(f / "split.npz");
       const Index shape[] = {3};
       const std::uint8_t mask[] = {1, 0, 0};
       archive.add("train", Dtype::kBool, shape, std::span<const std::uint8_t>(mask));
       archive.finish();
     }, {"split.npz", "no array 'val'", "it holds: train"}},
    {"split_transposed", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_parts(f / "split.npz", {2, 3}, std::vector<std::int64_t>{1, 0, 0, 0, 1, 1});
     }, {"split.npz:train", "(2, 3) for 3 vertices", ".T"}},
    {"split_of_ids_overlaps", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_parts(f / "split.npz", {2}, std::vector<std::int64_t>{0, 2});
     }, {"split.npz:val", "vertex 0 is in both train and validation"}},
    {"split_of_ids_out_of_range", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_parts(f / "split.npz", {2}, std::vector<std::int64_t>{0, 3});
     }, {"split.npz:train", "vertex 3 is out of range", "0 … 2"}},
    {"split_mask_of_another_graph", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_parts(f / "split.npz", {5}, std::vector<std::int64_t>{1, 0, 0, 1, 0});
     }, {"split.npz:train", "int64 (5) and holds 0 twice", "a mask, of 3 elements 0 and 1, or a list of different ids"}},
};
// clang-format on

using BadNpyLabels = BadInputTest;

TEST_P(BadNpyLabels, SaysWhereAndWhatToDoAndLeavesNothing) {
  expect_refusal(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, BadNpyLabels, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace atl
