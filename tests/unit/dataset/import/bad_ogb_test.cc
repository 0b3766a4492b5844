// Broken sources of OGB.
#include "dataset/import/bad_input.h"
#include "dataset/import/gzip.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

void good_ogb(const fs::path& folder) {
  write_text(folder / "num-node-list.csv", "3\n");
  write_text(folder / "edge.csv", "0,1\n1,2\n");
  write_text(folder / "node-feat.csv", "1,2\n3,4\n5,6\n");
  write_text(folder / "node-label.csv", "0\n1\n0\n");
  for (const char* part : {"train", "valid", "test"}) {
    write_text(folder / "split/s" / (std::string(part) + ".csv"), std::to_string(part[1] % 3) + "\n");
  }
}

/// As ogbn-mag has it.
void several_types(const fs::path& folder) {
  write_text(folder / "raw/triplet-type-list.csv", "author,writes,paper\npaper,cites,paper\n");
  write_text(folder / "raw/num-node-dict.csv", "author,paper\n2,3\n");
  write_text(folder / "raw/relations/author___writes___paper/edge.csv", "0,1\n1,2\n");
  write_text(folder / "raw/relations/paper___cites___paper/edge.csv", "0,1\n1,2\n");
}

/// As ogbn-papers100M has it, of three vertices.
void binary(const fs::path& folder, const std::vector<std::int64_t>& edges, const std::vector<Index>& shape) {
  fs::create_directories(folder / "raw");
  NpzWriter archive(folder / "raw/data.npz");
  const Index one[] = {1};
  const std::int64_t vertices = 3;
  archive.add("edge_index", Dtype::kInt64, shape, std::span<const std::int64_t>(edges));
  archive.add("num_nodes_list", Dtype::kInt64, one, std::span<const std::int64_t>(&vertices, 1));
  archive.finish();
}

// clang-format off
const BadInput kCases[] = {
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
    {"ogb_weights_missing", "ogb", "", good_ogb, {"edge-feat.csv.gz", "leave out --weights"},
     [](ImportOptions& o) { o.weights = true; }},
    {"ogb_more_weights_than_arcs", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "edge-feat.csv", "1\n2\n3\n");
     }, {"edge-feat.csv:3: is a weight more than there are arcs"}, [](ImportOptions& o) { o.weights = true; }},
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
     }, {"node-label.csv:2", "0.5", "Atoll predicts classes, not numbers (regression isn't built)"}},
    {"ogb_label_negative", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "node-label.csv", "0\n-1\n1\n");
     }, {"node-label.csv:2: the label is -1; classes are 0 or more, and a vertex without a label has nan"}},
    {"ogb_feature_beyond_double", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "node-feat.csv", "1,2\n3,-1e400\n5,6\n");
     }, {"node-feat.csv:2", "'-1e400' is too large for a number"}},
    {"ogb_feature_beyond_float32", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "node-feat.csv", "1,2\n3,1e40\n5,6\n");
     }, {"node-feat.csv:2: 1e+40 is too large for float32 (at most 3.4e+38)"}},
    {"ogb_weight_beyond_float32", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "edge-feat.csv", "1\n1e39\n");
     }, {"edge-feat.csv:2: 1e+39 is too large for float32"}, [](ImportOptions& o) { o.weights = true; }},
    {"ogb_weights_add_up_beyond_float32", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "edge.csv", "1,2\n1,2\n");
       write_text(f / "edge-feat.csv", "3e38\n3e38\n");
     }, {"the arc 1 → 2 is given several times", "6e+38"}, [](ImportOptions& o) { o.weights = true; }},
    {"ogb_several_types", "ogb", "", [](const fs::path& f) {
       several_types(f);
     }, {"a graph of several types of vertices", "raw/triplet-type-list.csv", "Atoll trains on one type",
         "give ", "raw/relations/paper___cites___paper"}},
    {"ogb_relation_of_two_types", "ogb", "raw/relations/author___writes___paper", [](const fs::path& f) {
       several_types(f);
     }, {"two types, author and paper", "raw/relations/paper___cites___paper"}},
    {"ogb_relation_without_counts", "ogb", "raw/relations/paper___cites___paper", [](const fs::path& f) {
       several_types(f);
       write_text(f / "raw/num-node-dict.csv", "author\n2\n");
     }, {"num-node-dict.csv: has no vertices of type 'paper'"}},
    {"ogb_binary_edges_are_rows", "ogb", "", [](const fs::path& f) {
       binary(f, {0, 1, 1, 2, 2, 0}, {3, 2});
     }, {"data.npz:edge_index: is int64 (3, 2); must be (2, arcs)"}},
    {"ogb_binary_id_out_of_range", "ogb", "", [](const fs::path& f) {
       binary(f, {0, 1, 3, 1, 2, 0}, {2, 3});
     }, {"data.npz:edge_index, transposed: row 2", "3 → 0", "0 … 2"}},
    {"ogb_binary_weights", "ogb", "", [](const fs::path& f) {
       binary(f, {0, 1, 2, 1, 2, 0}, {2, 3});
     }, {"data.npz: weights aren't read from OGB's binary form"}, [](ImportOptions& o) { o.weights = true; }},
    {"ogb_packed_and_unpacked", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "node-label.csv.gz", gzip("0\n1\n1\n"));
     }, {"node-label.csv: node-label.csv.gz is there too", "remove one"}},
    {"ogb_text_and_binary", "ogb", "", [](const fs::path& f) {
       binary(f, {0, 1, 2, 1, 2, 0}, {2, 3});
       write_text(f / "raw/node-feat.csv", "1,2\n3,4\n5,6\n");
     }, {"data.npz: node-feat.csv is there too", "remove one"}},
    {"ogb_split_out_of_range", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       write_text(f / "split/s/test.csv", "9\n");
     }, {"test.csv:1", "vertex 9", "0 … 2"}},
    {"ogb_split_part_missing", "ogb", "", [](const fs::path& f) {
       good_ogb(f);
       fs::remove(f / "split/s/valid.csv");
     }, {"split/s", "valid.csv"}},
};
// clang-format on

using BadOgb = BadInputTest;

TEST_P(BadOgb, SaysWhereAndWhatToDoAndLeavesNothing) {
  expect_refusal(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, BadOgb, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace atl
