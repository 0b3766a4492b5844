// Broken sources of GraphSAINT.
#include "dataset/import/bad_input.h"
#include "dataset/import/gzip.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

void good_saint(const fs::path& folder) {
  write_csr(folder / "adj_full.npz", 3, 3, {0, 1, 2, 3}, {1, 2, 0}, {1, 1, 1});
  write_text(folder / "class_map.json", R"({"0": 1, "1": 0, "2": 1})");
  write_text(folder / "role.json", R"({"tr": [0], "va": [1], "te": [2]})");
}

// clang-format off
const BadInput kCases[] = {
    {"saint_no_roles", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       fs::remove(f / "role.json");
     }, {"role.json", "does not exist"}},
    {"saint_class_of_stranger", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "class_map.json", R"({"0": 1, "3": 0})");
     }, {"class_map.json", "'3'", "0 … 2"}},
    {"saint_class_is_a_number", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "class_map.json", R"({"0": 1.5})");
     }, {"class_map.json", "vertex 0 is 1.5", "regression isn't built"}},
    {"saint_vertex_twice", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "class_map.json", R"({"0": 1, "1": 0, "0": 0})");
     }, {"class_map.json: vertex 0 is given twice"}},
    {"saint_weights_add_up_beyond_float32", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_csr(f / "adj_full.npz", 3, 3, {0, 2, 2, 2}, {1, 1}, {3e38f, 3e38f});
     }, {"the arc 0 → 1 is given several times", "6e+38"}, [](ImportOptions& o) { o.weights = true; }},
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
     }, {"adj_full.npz: indices and data: row 2", "weight of arc 2 → 0 is -7"},
     [](ImportOptions& o) { o.weights = true; }},
    {"saint_json_cut_off", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "role.json", R"({"tr": [0], "va")");
     }, {"role.json: byte", "not JSON"}},
    {"saint_packed_and_unpacked", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "role.json.gz", gzip(R"({"tr": [2], "va": [1], "te": [0]})"));
     }, {"role.json: role.json.gz is there too", "remove one"}},
    {"saint_roles_overlap", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "role.json", R"({"tr": [0, 1], "va": [1], "te": [2]})");
     }, {"role.json", "vertex 1 is in both train and validation"}},
    {"saint_unknown_role", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_text(f / "role.json", R"({"train": [0]})");
     }, {"role.json", "'train'", "tr, va and te"}},
    {"saint_matrix_not_square", "graphsaint", "", [](const fs::path& f) {
       good_saint(f);
       write_csr(f / "adj_full.npz", 3, 4, {0, 1, 2, 3}, {1, 2, 0}, {1, 1, 1});
     }, {"adj_full.npz", "3 × 4", "square"}},
};
// clang-format on

using BadGraphSaint = BadInputTest;

TEST_P(BadGraphSaint, SaysWhereAndWhatToDoAndLeavesNothing) {
  expect_refusal(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, BadGraphSaint, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace atl
