// Broken sources of OGB.
#include "dataset/import/bad_input.h"

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
};
// clang-format on

using BadOgb = BadInputTest;

TEST_P(BadOgb, SaysWhereAndWhatToDoAndLeavesNothing) {
  expect_refusal(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, BadOgb, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace atl
