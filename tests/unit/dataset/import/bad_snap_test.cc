// Broken edge lists.
#include "dataset/import/bad_input.h"
#include "dataset/import/gzip.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

void text_file(const fs::path& folder, const std::string& text) {
  write_text(folder / "a.txt", text);
}

// clang-format off
const BadInput kCases[] = {
    {"snap_word", "snap", "a.txt", [](const fs::path& f) { text_file(f, "# c\n0 1\n1 x\n"); },
     {"a.txt:3", "'x'", "whole number"}},
    {"snap_header", "snap", "a.txt", [](const fs::path& f) { text_file(f, "source,target\n0,1\n"); },
     {"a.txt:1", "'source'", "if the line is a header, remove it"}},
    {"snap_one_id", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1\n7\n"); }, {"a.txt:2", "two ids"}},
    {"snap_negative", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 -1\n"); }, {"a.txt:1", "-1", "0 or more"}},
    {"snap_beyond_64_bits", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 99999999999999999999\n"); },
     {"a.txt:1", "64 bits"}},
    {"snap_empty", "snap", "a.txt", [](const fs::path& f) { text_file(f, "# nothing\n"); }, {"a.txt", "no arcs"}},
    {"snap_weight_missing", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1 2\n1 2\n"); },
     {"a.txt:2", "third column", "leave out --weights"}, [](ImportOptions& o) { o.weights = true; }},
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
    {"snap_is_folder", "snap", "", [](const fs::path&) {}, {"is a folder; give a file"}},
};
// clang-format on

using BadSnap = BadInputTest;

TEST_P(BadSnap, SaysWhereAndWhatToDoAndLeavesNothing) {
  expect_refusal(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, BadSnap, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace atl
