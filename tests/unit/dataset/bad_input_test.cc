// A table of broken sources. Each must end in an Error that says where and what to do, and leave nothing
// behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

#include "dataset/dataset.h"
#include "dataset/gzip.h"
#include "dataset/importers.h"
#include "dataset/npz_writer.h"
#include "dataset/temp_folder.h"
#include "dataset/tiny_pickle.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using Make = void (*)(const fs::path& folder);
using Change = void (*)(ImportOptions& options);

struct BadInput {
  const char* name;
  const char* format;
  const char* source;  // inside the folder; "" is the folder itself
  Make make;
  std::vector<const char*> says;  // all of these stand in the message
  Change change = nullptr;
};

// ---- a good source of each format, for the cases to damage ----

void good_npy(const fs::path& folder) {
  write_array(folder / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1, 2}, {2});
  write_array(folder / "features.npy", Dtype::kFloat32, std::vector<float>{1, 2, 3, 4, 5, 6}, {2});
  write_array(folder / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1});
  write_text(folder / "meta.json", R"({"num_nodes": 3, "num_edges": 2, "num_classes": 2})");
}

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

void write_csr(const fs::path& path, Index rows, Index cols, std::vector<std::int32_t> offsets,
               std::vector<std::int32_t> columns, std::vector<float> values, const char* format = "csr") {
  NpzWriter archive(path);
  const Index ends[] = {Index(offsets.size())}, entries[] = {Index(columns.size())},
              count[] = {Index(values.size())};
  const Index two[] = {2};
  const std::int64_t shape[] = {rows, cols};
  archive.add("indptr", Dtype::kInt32, ends, std::span<const std::int32_t>(offsets));
  archive.add("indices", Dtype::kInt32, entries, std::span<const std::int32_t>(columns));
  archive.add("data", Dtype::kFloat32, count, std::span<const float>(values));
  archive.add("shape", Dtype::kInt64, two, std::span<const std::int64_t>(shape));
  archive.add("format", Dtype::kBytes, {}, std::span<const char>(format, 3));
  archive.finish();
}

void good_ogb(const fs::path& folder) {
  write_text(folder / "num-node-list.csv", "3\n");
  write_text(folder / "edge.csv", "0,1\n1,2\n");
  write_text(folder / "node-feat.csv", "1,2\n3,4\n5,6\n");
  write_text(folder / "node-label.csv", "0\n1\n0\n");
  for (const char* part : {"train", "valid", "test"}) {
    write_text(folder / "split/s" / (std::string(part) + ".csv"), std::to_string(part[1] % 3) + "\n");
  }
}

void good_saint(const fs::path& folder) {
  write_csr(folder / "adj_full.npz", 3, 3, {0, 1, 2, 3}, {1, 2, 0}, {1, 1, 1});
  write_text(folder / "class_map.json", R"({"0": 1, "1": 0, "2": 1})");
  write_text(folder / "role.json", R"({"tr": [0], "va": [1], "te": [2]})");
}

void good_planetoid(const fs::path& folder) {
  using namespace tiny_pickle;  // NOLINT
  const auto part = [&](const char* name) { return folder / ("ind.t." + std::string(name)); };
  write_text(part("x"), whole(csr(1, 4, {0, 1}, {0})));
  write_text(part("allx"), whole(csr(2, 4, {0, 1, 2}, {0, 1})));
  write_text(part("tx"), whole(csr(1, 4, {0, 1}, {2})));
  write_text(part("y"), whole(array("i4", {1, 2}, std::vector<std::int32_t>{1, 0})));
  write_text(part("ally"), whole(array("i4", {2, 2}, std::vector<std::int32_t>{1, 0, 0, 1})));
  write_text(part("ty"), whole(array("i4", {1, 2}, std::vector<std::int32_t>{0, 1})));
  write_text(part("graph"), whole(graph({{1}, {0, 2}, {1}})));
  write_text(part("test.index"), "2\n");
}

void text_file(const fs::path& folder, const std::string& text) {
  write_text(folder / "a.txt", text);
}

constexpr const char* kBanner = "%%MatrixMarket matrix coordinate real general\n";
const float kNan = std::numeric_limits<float>::quiet_NaN();

const BadInput kCases[] = {
    // the neutral layout
    {"npy_source_missing", "npy", "none", [](const fs::path&) {}, {"none", "does not exist"}},
    {"npy_no_edges", "npy", "", [](const fs::path&) {}, {"no edges.npy", "docs/datasets.md"}},
    {"npy_id_too_large", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1, 3}, {2});
     }, {"edges.npy: row 1", "1 → 3", "0 … 2"}},
    {"npy_id_negative", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, -1, 1, 2}, {2});
     }, {"edges.npy: row 0", "-1", "allowed"}},
    {"npy_id_beyond_31_bits", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kInt64, std::vector<std::int64_t>{0, 1, 1, 5000000000}, {2});
     }, {"edges.npy: row 1, column 1 is 5000000000", "allowed"}},
    {"npy_edges_float", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kFloat64, std::vector<double>{0, 1, 1, 2}, {2});
     }, {"edges.npy", "float64", "astype('int32')"}},
    {"npy_edges_big_endian", "npy", "", [](const fs::path& f) {
       good_npy(f);
       std::string text = read_text(f / "edges.npy");
       text.replace(text.find("<i4"), 3, ">i4");
       write_text(f / "edges.npy", text);
     }, {"edges.npy", "big-endian", "astype('<i4')"}},
    {"npy_edges_complex", "npy", "", [](const fs::path& f) {
       good_npy(f);
       std::string text = read_text(f / "edges.npy");
       text.replace(text.find("<i4"), 3, "<c8");
       write_text(f / "edges.npy", text);
     }, {"edges.npy", "<c8", "allowed"}},
    {"npy_edges_three_columns", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1, 2, 0, 1}, {3});
     }, {"edges.npy", "(2, 3)", "(any, 2)"}},
    {"npy_edges_torn", "npy", "", [](const fs::path& f) {
       good_npy(f);
       fs::resize_file(f / "edges.npy", 130);
     }, {"edges.npy", "torn", "16 bytes", "copy or download"}},
    {"npy_edges_not_npy", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "edges.npy", "0 1\n1 2\n");
     }, {"edges.npy", "not a .npy array", "numpy.save"}},
    {"npy_edges_empty_file", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "edges.npy", "");
     }, {"edges.npy", "not a .npy array"}},
    {"npy_header_damaged", "npy", "", [](const fs::path& f) {
       good_npy(f);
       std::string text = read_text(f / "edges.npy");
       text.replace(text.find("shape"), 5, "shlpe");
       write_text(f / "edges.npy", text);
     }, {"edges.npy", "header is damaged", "shlpe"}},
    {"npy_structured", "npy", "", [](const fs::path& f) {
       good_npy(f);
       std::string text = read_text(f / "edges.npy");
       text.replace(text.find("'<i4'"), 5, "[('a'");
       write_text(f / "edges.npy", text);
     }, {"edges.npy", "structured array"}},
    {"npy_no_arcs", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "meta.json", "{}");
       write_array(f / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{}, {2});
     }, {"no arcs", "give at least one"}},
    {"npy_only_self_loops", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 0, 1, 1}, {2});
     }, {"no arc is left without self-loops"}, [](ImportOptions& o) { o.remove_self_loops = true; }},
    {"npy_arc_count_differs", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "meta.json", R"({"num_nodes": 3, "num_edges": 7})");
     }, {"edges.npy", "num_edges is 7"}},
    {"npy_meta_not_json", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "meta.json", "{num_nodes: 3");
     }, {"meta.json", "not a JSON object", "correct it, or remove it"}},
    {"npy_meta_wrong_type", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "meta.json", R"({"num_nodes": "three"})");
     }, {"meta.json", "num_nodes", "three"}},
    {"npy_no_vertices", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "meta.json", R"({"num_nodes": 0})");
     }, {"has 0 vertices", "allowed are 1"}},
    {"npy_too_many_vertices", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "meta.json", R"({"num_nodes": 2147483647})");
     }, {"2147483647 vertices", "2147483646"}},
    {"npy_feature_nan", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "features.npy", Dtype::kFloat32, std::vector<float>{1, 2, 3, kNan, 5, 6}, {2});
     }, {"features.npy: row 1: feature 1 is nan", "replace"}},
    {"npy_feature_overflows_float", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "features.npy", Dtype::kFloat64, std::vector<double>{1, 2, 1e300, 4, 5, 6}, {2});
     }, {"features.npy: row 1: feature 0 is inf"}},
    {"npy_feature_too_large_for_float16", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "features.npy", Dtype::kFloat32, std::vector<float>{1, 2, 3, 70000, 5, 6}, {2});
     }, {"row 1", "70000", "import without float16"}, [](ImportOptions& o) { o.float16 = true; }},
    {"npy_feature_rows_missing", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "features.npy", Dtype::kFloat32, std::vector<float>{1, 2, 3, 4}, {2});
     }, {"features for 2 of its 3 vertices", "give one row a vertex"}},
    {"npy_features_one_dimension", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "features.npy", Dtype::kFloat32, std::vector<float>{1, 2, 3});
     }, {"features.npy", "float32 (3)", "(any, any)"}},
    {"npy_several_feature_files", "npy", "", [](const fs::path& f) {
       good_npy(f);
       fs::rename(f / "features.npy", f / "features_a.npy");
       fs::copy(f / "features_a.npy", f / "features_b.npy");
     }, {"features_a.npy, features_b.npy", "rename"}},
    {"npz_features_cut_off", "npy", "", [](const fs::path& f) {
       good_npy(f);
       fs::remove(f / "features.npy");
       write_text(f / "features.npz", read_text(kCora / "features.npz").substr(0, 5000));
     }, {"features.npz", "directory is missing", "copy or download"}},
    {"npz_features_damaged", "npy", "", [](const fs::path& f) {
       good_npy(f);
       std::string text = read_text(kCora / "features.npz");
       text[20000] = char(text[20000] ^ 1);
       write_text(f / "features.npz", text);
     }, {"features.npz:", "copy or download"}},
    {"npz_column_out_of_range", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 2, 2}, {0, 2}, {1, 1});
     }, {"features.npz: indices[1] is 2", "0 … 1"}},
    {"npz_offsets_decrease", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_csr(f / "features.npz", 3, 2, {0, 2, 1, 2}, {0, 1}, {1, 1});
     }, {"features.npz: indptr[2] is 1", "at least 2"}},
    {"npz_offsets_end_early", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 1, 1}, {0, 1}, {1, 1});
     }, {"features.npz: indptr ends at 1", "2 indices"}},
    {"npz_values_missing", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 2, 2}, {0, 1}, {1});
     }, {"data", "(1)", "(2)"}},
    {"npz_is_csc", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 2, 2}, {0, 1}, {1, 1}, "csc");
     }, {"features.npz", "'csc'", "tocsr()"}},
    {"npz_feature_infinite", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 2, 2}, {0, 1}, {1, std::numeric_limits<float>::infinity()});
     }, {"features.npz: row 1: feature 1 is inf"}},
    {"label_too_large", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt64, std::vector<std::int64_t>{0, 1, 2});
     }, {"labels.npy: row 2", "label is 2", "0 … 1"}},
    {"label_below_minus_one", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>{0, -2, 1});
     }, {"labels.npy: row 1", "-2", "unlabelled"}},
    {"label_fraction", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kFloat32, std::vector<float>{0, 0.5f, 1});
     }, {"labels.npy: row 1", "0.5", "whole numbers"}},
    {"labels_too_few", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1});
     }, {"labels for 2 of its 3 vertices", "give one row a vertex"}},
    {"target_not_binary", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 2, 0, 1, 1}, {2});
     }, {"labels.npy: row 1", "class 0 is 2", "0 and 1"}},
    {"split_overlaps", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_split(f / "split.npz", {1, 0, 0}, {0, 1, 0}, {1, 0, 1});
     }, {"split.npz:test", "vertex 0 is in train and in test", "column 0"}},
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
    {"split_of_ids", "npy", "", [](const fs::path& f) {
       good_npy(f);
       NpzWriter archive(f / "split.npz");
       const Index shape[] = {3};
       const std::int64_t ids[] = {0, 1, 2};
       for (const char* part : {"train", "val", "test"}) {
         archive.add(part, Dtype::kInt64, shape, std::span<const std::int64_t>(ids));
       }
       archive.finish();
     }, {"split.npz:train", "int64", "numpy.isin"}},
    {"weight_nan", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "weights.npy", Dtype::kFloat32, std::vector<float>{1, kNan});
     }, {"edges.npy: row 1", "weight", "nan"}, [](ImportOptions& o) { o.weights = true; }},
    {"weight_negative", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "weights.npy", Dtype::kFloat32, std::vector<float>{1, -0.5f});
     }, {"edges.npy: row 1", "weight of arc 1 → 2 is -0.5", "not negative"},
     [](ImportOptions& o) { o.weights = true; }},
    {"weights_missing", "npy", "", good_npy, {"weights.npy", "cannot be read"},
     [](ImportOptions& o) { o.weights = true; }},
    {"scaling_without_split", "npy", "", good_npy, {"standardised", "no split"},
     [](ImportOptions& o) { o.scaling = FeatureScaling::kTraining; }},
    // edge lists
    {"snap_word", "snap", "a.txt", [](const fs::path& f) { text_file(f, "# c\n0 1\n1 x\n"); },
     {"a.txt:3", "'x'", "whole number"}},
    {"snap_one_id", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1\n7\n"); }, {"a.txt:2", "two ids"}},
    {"snap_negative", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 -1\n"); }, {"a.txt:1", "-1", "0 or more"}},
    {"snap_beyond_64_bits", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 99999999999999999999\n"); },
     {"a.txt:1", "64 bits"}},
    {"snap_empty", "snap", "a.txt", [](const fs::path& f) { text_file(f, "# nothing\n"); }, {"a.txt", "no arcs"}},
    {"snap_weight_missing", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1 2\n1 2\n"); },
     {"a.txt:2", "third column", "without weights"}, [](ImportOptions& o) { o.weights = true; }},
    {"snap_weight_negative", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1 2\n1 2 -3\n"); },
     {"a.txt:2", "weight is -3", "not negative"}, [](ImportOptions& o) { o.weights = true; }},
    {"snap_gz_cut_off", "snap", "a.txt.gz", [](const fs::path& f) {
       std::string text;
       for (int i = 0; i < 5000; ++i) text += std::to_string(i) + " " + std::to_string(i * 7919 % 5003) + "\n";
       const std::string packed = gzip(text);
       write_text(f / "a.txt.gz", packed.substr(0, packed.size() / 2));
     }, {"a.txt.gz", "cut off after", "copy or download"}},
    {"snap_gz_damaged", "snap", "a.txt.gz", [](const fs::path& f) {
       std::string packed = gzip("0 1\n1 2\n2 3\n");
       packed[packed.size() - 6] = char(packed[packed.size() - 6] ^ 1);  // in the checksum
       write_text(f / "a.txt.gz", packed);
     }, {"a.txt.gz", "damaged", "copy or download"}},
    {"snap_gz_is_text", "snap", "a.txt.gz", [](const fs::path& f) { write_text(f / "a.txt.gz", "0 1\n"); },
     {"a.txt.gz", "not gzip"}},
    {"snap_is_folder", "snap", "", [](const fs::path&) {}, {"is a folder where a file is needed"}},
    // MatrixMarket
    {"mm_no_banner", "matrixmarket", "a.txt", [](const fs::path& f) { text_file(f, "3 3 1\n1 2 1\n"); },
     {"a.txt:1", "%%MatrixMarket"}},
    {"mm_empty", "matrixmarket", "a.txt", [](const fs::path& f) { text_file(f, ""); }, {"a.txt", "empty"}},
    {"mm_array", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, "%%MatrixMarket matrix array real general\n2 2\n1\n"); },
     {"a.txt:1", "'array'", "coordinate"}},
    {"mm_complex", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, "%%MatrixMarket matrix coordinate complex general\n"); },
     {"a.txt:1", "'complex'", "pattern, real or integer"}},
    {"mm_skew", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, "%%MatrixMarket matrix coordinate real skew-symmetric\n"); },
     {"a.txt:1", "'skew-symmetric'", "general or symmetric"}},
    {"mm_not_square", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 4 1\n1 1 1\n"); }, {"a.txt:2", "3 × 4", "square"}},
    {"mm_zero_based", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 1\n0 1 1\n"); }, {"a.txt:3", "0", "1 … 3"}},
    {"mm_too_few", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 2\n1 2 1\n"); }, {"a.txt:3", "after 1 of 2"}},
    {"mm_too_many", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 1\n1 2 1\n1 3 1\n"); },
     {"a.txt:4", "more than the 1"}},
    {"mm_value_missing", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 1\n1 2\n"); }, {"a.txt:3", "value is missing"}},
    {"mm_value_nan", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 1\n1 2 nan\n"); }, {"a.txt:3", "finite"}},
    {"mm_pattern_for_weights", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n"); },
     {"a.txt:1", "no values to take weights from", "import without weights"},
     [](ImportOptions& o) { o.weights = true; }},
    {"mm_weight_negative", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 2\n1 2 1\n2 3 -4\n"); },
     {"a.txt:4", "value is -4", "not be negative"}, [](ImportOptions& o) { o.weights = true; }},
    {"mm_extra_field", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 1\n1 2 1 1\n"); }, {"a.txt:3", "more fields"}},
    // OGB
    {"ogb_no_vertex_count", "ogb", "", [](const fs::path&) {}, {"num-node-list.csv"}},
    {"ogb_several_graphs", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "num-node-list.csv", "3\n4\n");
     }, {"num-node-list.csv", "several graphs"}},
    {"ogb_edge_three_fields", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "edge.csv", "0,1,2\n");
     }, {"edge.csv:1", "3 fields"}},
    {"ogb_edge_out_of_range", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "edge.csv", "0,1\n1,2\n2,3\n");
     }, {"edge.csv:3", "2 → 3", "0 … 2"}},
    {"ogb_weights_missing", "ogb", "", good_ogb, {"edge-feat.csv.gz", "import without weights"},
     [](ImportOptions& o) { o.weights = true; }},
    {"ogb_weight_negative", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "edge-feat.csv", "1\n-2\n");
     }, {"edge.csv:2", "weight of arc 1 → 2 is -2"}, [](ImportOptions& o) { o.weights = true; }},
    {"ogb_ragged_features", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "node-feat.csv", "1,2\n3\n5,6\n");
     }, {"node-feat.csv:2", "1 fields", "first line has 2"}},
    {"ogb_feature_nan", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "node-feat.csv", "1,2\n3,nan\n5,6\n");
     }, {"node-feat.csv:2", "feature 1 is nan"}},
    {"ogb_label_fraction", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "node-label.csv", "0\n0.5\n1\n");
     }, {"node-label.csv:2", "0.5"}},
    {"ogb_split_out_of_range", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "split/s/test.csv", "9\n");
     }, {"test.csv:1", "vertex 9", "0 … 2"}},
    {"ogb_split_part_missing", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       fs::remove(f / "split/s/valid.csv");
     }, {"split/s", "valid.csv"}},
    // GraphSAINT
    {"saint_no_roles", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       fs::remove(f / "role.json");
     }, {"role.json", "does not exist"}},
    {"saint_class_of_stranger", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "class_map.json", R"({"0": 1, "3": 0})");
     }, {"class_map.json", "'3'", "0 … 2"}},
    {"saint_class_is_text", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "class_map.json", R"({"0": "one"})");
     }, {"class_map.json", "'0'", "a string"}},
    {"saint_class_lists_ragged", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "class_map.json", R"({"0": [1, 0], "1": [1]})");
     }, {"class_map.json", "vertex 1 has 1 classes"}},
    {"saint_classes_and_lists", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "class_map.json", R"({"0": 1, "1": [0, 1], "2": 0})");
     }, {"class_map.json", "some vertices have a class and others a list"}},
    {"saint_class_list_empty", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "class_map.json", R"({"0": [], "1": [0, 1]})");
     }, {"class_map.json", "vertex 0 has 0 classes"}},
    {"saint_classes_without_keys", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "class_map.json", "[1, 0, 1]");
     }, {"class_map.json", "not a map of vertices to classes"}},
    {"saint_roles_without_keys", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "role.json", "[0, 1, 2]");
     }, {"role.json", "not a map of lists"}},
    {"saint_weight_negative", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_csr(f / "adj_full.npz", 3, 3, {0, 1, 2, 3}, {1, 2, 0}, {1, 1, -7});
     }, {"adj_full.npz: indices and data: row 2", "weight of arc 0 → 2 is -7"},
     [](ImportOptions& o) { o.weights = true; }},
    {"saint_json_cut_off", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "role.json", R"({"tr": [0], "va")");
     }, {"role.json: byte", "not JSON"}},
    {"saint_roles_overlap", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "role.json", R"({"tr": [0, 1], "va": [1], "te": [2]})");
     }, {"role.json", "vertex 1 is in train and in validation"}},
    {"saint_unknown_role", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "role.json", R"({"train": [0]})");
     }, {"role.json", "'train'", "tr, va and te"}},
    {"saint_matrix_not_square", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_csr(f / "adj_full.npz", 3, 4, {0, 1, 2, 3}, {1, 2, 0}, {1, 1, 1});
     }, {"adj_full.npz", "3 × 4", "square"}},
    // Planetoid
    {"planetoid_no_files", "planetoid", "", [](const fs::path&) {}, {"no ind.NAME.allx"}},
    {"planetoid_weights", "planetoid", "", good_planetoid, {"hold no weights", "import without weights"},
     [](ImportOptions& o) { o.weights = true; }},
    {"planetoid_two_sets", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       write_text(f / "ind.u.allx", "x");
     }, {"several data sets (t, u"}},
    {"planetoid_cut_off", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       fs::resize_file(f / "ind.t.allx", 300);
     }, {"ind.t.allx: byte", "cut off"}},
    {"planetoid_runs_code", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       write_text(f / "ind.t.allx", "\x80\x02" "cposix\nsystem\n(U\x04true" "tR.");
     }, {"ind.t.allx", "'posix system' is not allowed"}},
    {"planetoid_big_endian", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       write_text(f / "ind.t.y", tiny_pickle::whole(
                                     tiny_pickle::array("i4", {1, 2}, std::vector<std::int32_t>{1, 0}, ">")));
     }, {"ind.t.y", "big-endian"}},
    {"planetoid_array_for_matrix", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       fs::copy_file(f / "ind.t.y", f / "ind.t.tx", fs::copy_options::overwrite_existing);
     }, {"ind.t.tx", "CSR matrix is missing"}},
    {"planetoid_index_too_short", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       write_text(f / "ind.t.test.index", "");
     }, {"ind.t.test.index", "0 ids for 1 rows"}},
    {"planetoid_neighbour_out_of_range", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       write_text(f / "ind.t.graph", tiny_pickle::whole(tiny_pickle::graph({{1}, {7}, {}})));
     }, {"ind.t.graph", "1 → 7", "0 … 2"}},
    {"planetoid_split_overlaps", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       write_text(f / "ind.t.test.index", "0\n");
     }, {"ind.t.test.index", "vertex 0 is in train and in test"}},
    {"planetoid_two_classes", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       write_text(f / "ind.t.ally", tiny_pickle::whole(tiny_pickle::array(
                                        "i4", {2, 2}, std::vector<std::int32_t>{1, 1, 0, 1})));
     }, {"ind.t.ally: row 0", "2 classes"}},
    // the format itself
    {"unknown_format", "planetiod", "", [](const fs::path&) {}, {"'planetiod'", "did you mean 'planetoid'", "Known are"}},
};

class BadInputTest : public ::testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, SaysWhereAndWhatToDoAndLeavesNothing) {
  const BadInput& bad = GetParam();
  TempFolder folder;
  fs::create_directory(folder / "in");
  fs::create_directory(folder / "place");
  bad.make(folder / "in");
  ImportOptions options;
  if (bad.change) bad.change(options);
  try {
    import_dataset(bad.format, folder / "in" / bad.source, folder / "place" / "out", options);
    FAIL() << "was imported";
  } catch (const Error& error) {
    for (const char* text : bad.says) EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
  }
  EXPECT_TRUE(fs::is_empty(folder / "place"));
}

INSTANTIATE_TEST_SUITE_P(Table, BadInputTest, ::testing::ValuesIn(kCases),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(BadPlace, WhatExistsIsNotOverwritten) {
  TempFolder folder;
  write_text(folder / "out" / "mine", "x");
  EXPECT_THROW(import_dataset("npy", kCora, folder / "out", {}), Error);
  EXPECT_EQ(read_text(folder / "out" / "mine"), "x");
}

TEST(BadPlace, AFileInTheWayIsNamed) {
  TempFolder folder;
  write_text(folder / "file", "x");
  try {
    import_dataset("npy", kCora, folder / "file" / "out", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a file stands where a folder is needed"));
  }
}

/// Nobody may make a folder in /proc, root neither.
TEST(BadPlace, AFolderThatCannotBeMadeIsNamed) {
  try {
    import_dataset("npy", kCora, "/proc/atoll/out", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("/proc/atoll: cannot be written"));
  }
}

/// While it lives a process of root is one of nobody, and may not write everywhere.
struct AsNobody {
  const bool root = ::geteuid() == 0;
  AsNobody() { EXPECT_TRUE(!root || ::seteuid(65534) == 0); }
  ~AsNobody() { EXPECT_TRUE(!root || ::seteuid(0) == 0); }
};

TEST(BadPlace, AFolderThatMayNotBeWrittenIsNamed) {
  TempFolder folder;
  fs::create_directory(folder / "closed");
  fs::permissions(folder / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  try {
    const AsNobody nobody;
    const DatasetWriter writer(folder / "closed" / "out", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("choose a place that you may write to"));
  }
}

}  // namespace
}  // namespace atl
