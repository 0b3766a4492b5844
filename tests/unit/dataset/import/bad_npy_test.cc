// Broken sources of the neutral layout.
#include "dataset/import/good_npy.h"

#include <limits>

namespace atl {
namespace {

namespace fs = std::filesystem;

const float kNan = std::numeric_limits<float>::quiet_NaN();

// clang-format off
const BadInput kCases[] = {
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
     }, {"edges.npy: row 1, column 1 is 5000000000", "allowed", "numpy.unique(edges, return_inverse=True)"}},
    {"npy_edges_float", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kFloat64, std::vector<double>{0, 1, 1, 2}, {2});
     }, {"edges.npy", "float64", "astype('int32')"}},
    {"npy_edges_big_endian", "npy", "", [](const fs::path& f) {
       good_npy(f);
       std::string text = read_bytes(f / "edges.npy");
       text.replace(text.find("<i4"), 3, ">i4");
       write_text(f / "edges.npy", text);
     }, {"edges.npy", "big-endian", "astype('<i4')"}},
    {"npy_edges_complex", "npy", "", [](const fs::path& f) {
       good_npy(f);
       std::string text = read_bytes(f / "edges.npy");
       text.replace(text.find("<i4"), 3, "<c8");
       write_text(f / "edges.npy", text);
     }, {"edges.npy", "<c8", "allowed"}},
    {"npy_edges_three_columns", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{0, 1, 1, 2, 0, 1}, {3});
       write_text(f / "meta.json", R"({"num_nodes": 3, "num_edges": 3})");
     }, {"edges.npy", "(2, 3)", "(edges, 2)", "edge_index.T"}},
    {"npy_edges_with_weights", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kFloat64, std::vector<double>{0, 1, 0.5, 1, 2, 0.5, 2, 0, 1}, {3});
     }, {"edges.npy", "(3, 3)", "edges[:, :2]", "weights.npy", "--weights"}},
    {"npy_edges_are_a_matrix", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>(16, 1), {4});
     }, {"edges.npy", "(4, 4)", "numpy.argwhere"}},
    {"npy_edges_count_from_one", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{1, 2, 2, 3}, {2});
     }, {"edges.npy: row 1", "2 → 3", "0 … 2", "--one-based"}},
    {"npy_edges_do_not_count_from_one", "npy", "", [](const fs::path& f) {
       good_npy(f);
     }, {"edges.npy: row 0, column 0 is 0", "allowed are ids 1"}, [](ImportOptions& o) { o.one_based = true; }},
    {"npy_edges_wrapped", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kUint32, std::vector<std::uint32_t>{0, 1, 1, 4294967295u}, {2});
     }, {"edges.npy: row 1, column 1 is 4294967295", "0 … 2147483646"}},
    {"one_based_snap", "snap", "edges.txt", [](const fs::path& f) { write_text(f / "edges.txt", "1 2\n"); },
     {"--one-based", "format 'snap'", "leave it out"}, [](ImportOptions& o) { o.one_based = true; }},
    {"npy_edges_torn", "npy", "", [](const fs::path& f) {
       good_npy(f);
       fs::resize_file(f / "edges.npy", 130);
     }, {"edges.npy", "cut off", "16 bytes", "copy or download"}},
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
       std::string text = read_bytes(f / "edges.npy");
       text.replace(text.find("shape"), 5, "shlpe");
       write_text(f / "edges.npy", text);
     }, {"edges.npy", "header is damaged", "shlpe"}},
    {"npy_structured", "npy", "", [](const fs::path& f) {
       good_npy(f);
       std::string text = read_bytes(f / "edges.npy");
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
     }, {"all arcs are self-loops", "leave the option out"}, [](ImportOptions& o) { o.remove_self_loops = true; }},
    {"npy_arc_count_differs", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "meta.json", R"({"num_nodes": 3, "num_edges": 7})");
     }, {"edges.npy", "num_edges in meta.json is 7"}},
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
     }, {"features.npy: row 1, column 0 is 1e+300, too large for float32"}},
    {"npy_feature_too_large_for_float16", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "features.npy", Dtype::kFloat32, std::vector<float>{1, 2, 3, 70000, 5, 6}, {2});
     }, {"row 1", "70000", "leave out --float16"}, [](ImportOptions& o) { o.float16 = true; }},
    {"npy_feature_rows_missing", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "features.npy", Dtype::kFloat32, std::vector<float>{1, 2, 3, 4}, {2});
     }, {"features for 2 of 3 vertices", "give one row per vertex"}},
    {"npy_features_one_dimension", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "features.npy", Dtype::kFloat32, std::vector<float>{1, 2, 3});
     }, {"features.npy", "float32 (3)", "(rows, columns)"}},
    {"npy_several_feature_files", "npy", "", [](const fs::path& f) {
       good_npy(f);
       fs::rename(f / "features.npy", f / "features_a.npy");
       fs::copy(f / "features_a.npy", f / "features_b.npy");
     }, {"features_a.npy, features_b.npy", "rename"}},
    {"npy_two_forms_of_features", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 2, 2}, {0, 1}, {1, 1});
     }, {"features.npz: features.npy is there too", "remove one"}},
    {"npy_two_names_of_a_part", "npy", "", [](const fs::path& f) {
       good_npy(f);
       NpzWriter archive(f / "split.npz");
       const Index shape[] = {3};
       for (const char* name : {"train", "train_mask", "val", "test"})
         archive.add(name, Dtype::kInt32, shape, std::span<const int>(std::vector<int>(3)));
       archive.finish();
     }, {"split.npz: holds both 'train' and 'train_mask'", "leave one out"}},
    {"npy_two_names_of_a_pair_set", "npy", "", [](const fs::path& f) {
       good_npy(f);
       NpzWriter archive(f / "edge_split.npz");
       const Index shape[] = {1, 2};
       for (const char* name : {"train_pos", "train", "val_pos", "test_pos", "val_neg", "test_neg"})
         archive.add(name, Dtype::kInt32, shape, std::span<const int>(std::vector<int>{0, 1}));
       archive.finish();
     }, {"edge_split.npz: holds both 'train_pos' and 'train'", "leave one out"},
     [](ImportOptions& o) { o.given_edges = true; }},
    {"npy_features_transposed", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "features.npy", Dtype::kFloat32, std::vector<float>{1, 2, 3, 4, 5, 6}, {3});
     }, {"features.npy", "(2, 3) for 3 vertices", ".T"}},
    {"npy_features_transposed_without_meta", "npy", "", [](const fs::path& f) {
       good_npy(f);
       fs::remove(f / "meta.json");
       write_array(f / "features.npy", Dtype::kFloat32, std::vector<float>(12), {3});
     }, {"features.npy", "(4, 3) for 3 vertices", ".T"}},
    {"npy_features_of_objects", "npy", "", [](const fs::path& f) {
       good_npy(f);
       std::string text = read_bytes(f / "features.npy");
       text.replace(text.find("<f4'"), 4, "|O' ");
       write_text(f / "features.npy", text);
     }, {"features.npy", "Python objects", "astype('float32')"}},
    {"npz_features_dense", "npy", "", [](const fs::path& f) {
       good_npy_without_features(f);
       NpzWriter archive(f / "features.npz");
       const Index shape[] = {3, 2};
       archive.add("arr_0", Dtype::kFloat32, shape, std::span<const float>(std::vector<float>(6)));
       archive.finish();
     }, {"features.npz", "arr_0", "dense one with numpy.save"}},
    {"npz_features_cut_off", "npy", "", [](const fs::path& f) {
       good_npy_without_features(f);
       write_text(f / "features.npz", read_bytes(kCora / "features.npz").substr(0, 5000));
     }, {"features.npz", "directory is missing", "copy or download"}},
    {"npz_features_damaged", "npy", "", [](const fs::path& f) {
       good_npy_without_features(f);
       std::string text = read_bytes(kCora / "features.npz");
       text[20000] = char(text[20000] ^ 1);
       write_text(f / "features.npz", text);
     }, {"features.npz:", "copy or download"}},
    {"npz_column_out_of_range", "npy", "", [](const fs::path& f) {
       good_npy_without_features(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 2, 2}, {0, 2}, {1, 1});
     }, {"features.npz: indices[1] is 2", "0 … 1"}},
    {"npz_offsets_decrease", "npy", "", [](const fs::path& f) {
       good_npy_without_features(f);
       write_csr(f / "features.npz", 3, 2, {0, 2, 1, 2}, {0, 1}, {1, 1});
     }, {"features.npz: indptr[2] is 1", "at least 2"}},
    {"npz_offsets_end_early", "npy", "", [](const fs::path& f) {
       good_npy_without_features(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 1, 1}, {0, 1}, {1, 1});
     }, {"features.npz: indptr ends at 1", "2 indices"}},
    {"npz_values_missing", "npy", "", [](const fs::path& f) {
       good_npy_without_features(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 2, 2}, {0, 1}, {1});
     }, {"data", "(1)", "(2)"}},
    {"npz_is_csc", "npy", "", [](const fs::path& f) {
       good_npy_without_features(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 2, 2}, {0, 1}, {1, 1}, "csc");
     }, {"features.npz", "'csc'", "tocsr()"}},
    {"npz_feature_infinite", "npy", "", [](const fs::path& f) {
       good_npy_without_features(f);
       write_csr(f / "features.npz", 3, 2, {0, 1, 2, 2}, {0, 1}, {1, std::numeric_limits<float>::infinity()});
     }, {"features.npz: row 1: feature 1 is inf"}},
    {"weight_nan", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "weights.npy", Dtype::kFloat32, std::vector<float>{1, kNan});
     }, {"edges.npy: row 1", "weight", "nan"}, [](ImportOptions& o) { o.weights = true; }},
    {"weight_negative", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "weights.npy", Dtype::kFloat32, std::vector<float>{1, -0.5f});
     }, {"edges.npy: row 1", "weight of arc 1 → 2 is -0.5", "not negative"},
     [](ImportOptions& o) { o.weights = true; }},
    {"weight_beyond_float32", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "weights.npy", Dtype::kFloat64, std::vector<double>{1, 1e40});
     }, {"weights.npy: row 1, column 0 is 1e+40, too large for float32"}, [](ImportOptions& o) { o.weights = true; }},
    {"weights_add_up_beyond_float32", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "edges.npy", Dtype::kInt32, std::vector<std::int32_t>{1, 2, 1, 2}, {2});
       write_array(f / "weights.npy", Dtype::kFloat32, std::vector<float>{3e38f, 3e38f});
       write_array(f / "original_ids.npy", Dtype::kInt64, std::vector<std::int64_t>{70, 80, 90});
     }, {"the arc 80 → 90 is given several times, and its weights add up to 6e+38"},
     [](ImportOptions& o) { o.weights = true; }},
    {"npz_equal_columns_add_up_beyond_float32", "npy", "", [](const fs::path& f) {
       good_npy_without_features(f);
       write_csr(f / "features.npz", 3, 2, {0, 2, 2, 2}, {1, 1}, {3e38f, 3e38f});
     }, {"features.npz: row 0: feature 1 is inf"}},
    {"npy_original_ids_twice", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_array(f / "original_ids.npy", Dtype::kInt64, std::vector<std::int64_t>{70, 5, 70});
     }, {"original_ids.npy: row 0 and row 2 both hold the id 70", "an id of its own"}},
    {"npy_edges_are_a_zip", "npy", "", [](const fs::path& f) {
       good_npy(f);
       write_text(f / "edges.npy", "PK\x03\x04" + std::string(100, 'x'));
     }, {"edges.npy: is a zip archive", "unpack it first"}},
    {"npz_is_an_array", "npy", "", [](const fs::path& f) {
       good_npy(f);
       fs::rename(f / "features.npy", f / "features.npz");
     }, {"features.npz: is a NumPy array (.npy)", "give an .npz archive"}},
    {"npy_folder_is_a_file", "npy", "edges.npy", good_npy, {"edges.npy: is a file; format 'npy' reads a folder", "give the folder"}},
    {"weights_missing", "npy", "", good_npy, {"weights.npy", "cannot be read"},
     [](ImportOptions& o) { o.weights = true; }},
    {"scaling_without_split", "npy", "", good_npy, {"--scale-features training needs a split"},
     [](ImportOptions& o) { o.scaling = FeatureScaling::kTraining; }},
};
// clang-format on

using BadNpy = BadInputTest;

TEST_P(BadNpy, SaysWhereAndWhatToDoAndLeavesNothing) {
  expect_refusal(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, BadNpy, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace atl
