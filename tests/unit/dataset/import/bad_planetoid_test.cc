// Broken sources of Planetoid.
#include "dataset/import/bad_input.h"
#include "dataset/import/tiny_pickle.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

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

// clang-format off
const BadInput kCases[] = {
    {"planetoid_no_files", "planetoid", "", [](const fs::path&) {}, {"no ind.NAME.allx"}},
    {"planetoid_is_a_file", "planetoid", "ind.t.allx", good_planetoid,
     {"ind.t.allx: is a file; format 'planetoid' reads a folder", "give the folder"}},
    {"planetoid_test_vertex_twice", "planetoid", "", [](const fs::path& f) {
       using namespace tiny_pickle;  // NOLINT
       good_planetoid(f);
       write_text(f / "ind.t.tx", whole(csr(2, 4, {0, 1, 1}, {2})));
       write_text(f / "ind.t.ty", whole(array("i4", {2, 2}, std::vector<std::int32_t>{0, 1, 0, 1})));
       write_text(f / "ind.t.test.index", "2\n\n2\n");
     }, {"ind.t.test.index: lines 1 and 3 both hold 2"}},
    {"planetoid_weights", "planetoid", "", good_planetoid, {"hold no weights", "leave out --weights"},
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
     }, {"ind.t.test.index", "0 ids, but tx has 1 rows"}},
    {"planetoid_neighbour_out_of_range", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       write_text(f / "ind.t.graph", tiny_pickle::whole(tiny_pickle::graph({{1}, {7}, {}})));
     }, {"ind.t.graph", "1 → 7", "0 … 2"}},
    {"planetoid_split_overlaps", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       write_text(f / "ind.t.test.index", "0\n");
     }, {"ind.t.test.index", "vertex 0 is in both train and test"}},
    {"planetoid_two_classes", "planetoid", "", [](const fs::path& f) {
       good_planetoid(f);
       write_text(f / "ind.t.ally", tiny_pickle::whole(tiny_pickle::array(
                                        "i4", {2, 2}, std::vector<std::int32_t>{1, 1, 0, 1})));
     }, {"ind.t.ally: row 0", "2 classes"}},
};
// clang-format on

using BadPlanetoid = BadInputTest;

TEST_P(BadPlanetoid, SaysWhereAndWhatToDoAndLeavesNothing) {
  expect_refusal(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, BadPlanetoid, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace atl
