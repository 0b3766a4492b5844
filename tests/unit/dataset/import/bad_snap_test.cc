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
    {"snap_table_with_an_index", "snap", "a.txt",
     [](const fs::path& f) { text_file(f, ",source,target\n0,5,6\n1,6,7\n"); },
     {"a.txt:1: the first field is empty", "a table with an index: leave both out", "index=False, header=False"}},
    {"snap_empty_id", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0,1\n1,\n"); },
     {"a.txt:2: an id is missing", "fill in the empty field"}},
    {"snap_empty_second_id_at_first", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0,,1\n1,,2\n"); },
     {"a.txt:1: an id is missing"}},
    {"snap_ids_are_floats", "snap", "a.txt", [](const fs::path& f) { text_file(f, "12.0,1.0\n1.0,2.0\n"); },
     {"a.txt:1: '12.0' is written as a float", "write 12 ", "astype('int64')"}},
    {"snap_empty_weight", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0,1,2\n1,2,\n"); },
     {"a.txt:2: the weight is missing", "leave out --weights"}, [](ImportOptions& o) { o.weights = true; }},
    {"snap_weight_in_a_dictionary", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1 {'weight': 3}\n"); },
     {"a.txt:1: '{'weight':'", "nx.write_weighted_edgelist"}, [](ImportOptions& o) { o.weights = true; }},
    {"snap_one_id", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1\n7\n"); }, {"a.txt:2", "two ids"}},
    {"snap_negative", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 -1\n"); }, {"a.txt:1", "-1", "0 or more"}},
    {"snap_beyond_64_bits", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 99999999999999999999\n"); },
     {"a.txt:1", "'99999999999999999999'", "beyond 64 bits", "9223372036854775807", "number ids from 0"}},
    {"snap_unsigned_64_bits", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 18446744073709551615\n"); },
     {"a.txt:1", "'18446744073709551615'", "whole numbers go to 9223372036854775807"}},
    {"snap_ids_are_text", "snap", "a.txt", [](const fs::path& f) { text_file(f, "# people\nalice bob\nbob carol\n"); },
     {"a.txt:2", "'alice'", "begins with 'bob'", "ids are text", "numpy.unique"}},
    {"snap_ids_are_hex", "snap", "a.txt", [](const fs::path& f) { text_file(f, "3fa85f64-57 7c9e\n7c9e 3fa8\n"); },
     {"a.txt:1", "'3fa85f64-57'", "ids are text"}},
    {"snap_semicolons", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0;1\n1;2\n"); },
     {"a.txt:1: '0;1'", "replace ';'"}},
    {"snap_quotes", "snap", "a.txt", [](const fs::path& f) { text_file(f, "\"0\",\"1\"\n"); }, {"a.txt:1", "remove them"}},
    {"snap_carriage_returns", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1\r1 2\r"); },
     {"a.txt:1", "carriage return"}},
    {"snap_colons", "snap", "a.txt", [](const fs::path& f) { text_file(f, "1: 2 3\n2: 3\n"); },
     {"a.txt:1: '1:'", "--format adjacency"}},
    {"snap_weights_in_some_lines", "snap", "a.txt", [](const fs::path& f) { text_file(f, "1 2\n2 3 6.5\n"); },
     {"a.txt: line 2 has 3 columns, line 1 has 2", "give each line its weight, or none"}},
    {"snap_header_behind_comments", "snap", "a.txt",
     [](const fs::path& f) { text_file(f, "# c\nsource target\n# d\n0 1\n"); },
     {"a.txt:2", "'source'", "if the line is a header, remove it"}},
    {"snap_columns_differ", "snap", "a.txt", [](const fs::path& f) { text_file(f, "# c\n0 1\n1 2 3\n"); },
     {"a.txt: line 3 has 3 columns, line 2 has 2: an edge list has as many in each line", "adjacency list",
      "--format adjacency", "--format metis"}},
    {"snap_metis_file", "snap", "a.txt", [](const fs::path& f) { text_file(f, "5 6\n2 3\n1 3 4\n1 2 5\n2 5\n3 4\n"); },
     {"line 3 has 3 columns, line 1 has 2", "--format metis"}},
    {"snap_adjacency_list", "snap", "a.txt", [](const fs::path& f) { text_file(f, "# friends\n0 1 2 3\n1 2 3\n2 3\n"); },
     {"line 3 has 3 columns, line 2 has 4", "--format adjacency"}},
    {"snap_one_id_may_be_a_list", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1\n3\n"); },
     {"a.txt:2", "holds one id", "--format adjacency"}},
    {"snap_weight_beyond_double", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1 1\n1 2 1e400\n"); },
     {"a.txt:2", "'1e400' is too large for a number (at most 1.8e+308)", "correct the line"},
     [](ImportOptions& o) { o.weights = true; }},
    {"snap_weight_beyond_float32", "snap", "a.txt", [](const fs::path& f) { text_file(f, "0 1 1\n1 2 1e39\n"); },
     {"a.txt:2: the weight: 1e+39 is too large for float32"}, [](ImportOptions& o) { o.weights = true; }},
    {"snap_weights_add_up_beyond_float32", "snap", "a.txt",
     [](const fs::path& f) { text_file(f, "100 7 3e38\n7 9 1\n100 7 3e38\n"); },
     {"out: the arc 100 → 7 is given several times, and its weights add up to 6e+38, too large for float32", "leave out --weights"},
     [](ImportOptions& o) { o.weights = true; }},
    {"snap_weights_add_up_transposed", "snap", "a.txt",
     [](const fs::path& f) { text_file(f, "0 1 3e38\n0 1 3e38\n"); },
     {"the arc 0 → 1 is given several times"}, [](ImportOptions& o) { o.weights = o.transpose = true; }},
    {"snap_weights_add_up_both_ways", "snap", "a.txt",
     [](const fs::path& f) { text_file(f, "2 1 3e38\n1 2 1\n2 1 3e38\n"); },
     {"the arc 2 → 1 is given several times"}, [](ImportOptions& o) {
       o.weights = true;
       o.symmetrise = ImportOptions::Choice::kYes;
     }},
    {"snap_bytes_are_escaped_and_cut", "snap", "a.txt",
     [](const fs::path& f) { text_file(f, "0 1\n1 \x1b[31m" + std::string(60, 'x') + "\n"); },
     {"a.txt:2: '\\x1b[31mxxx", "x…' is not a whole number; correct the line"}},
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
    {"snap_gz_with_text_behind", "snap", "a.txt.gz", [](const fs::path& f) {
       write_text(f / "a.txt.gz", gzip("0 1\n1 2\n") + "2 3\n");
     }, {"a.txt.gz", "has bytes behind its gzip data, which ends after 8 bytes of text", "copy or download"}},
    {"snap_gz_with_half_a_file_behind", "snap", "a.txt.gz", [](const fs::path& f) {
       write_text(f / "a.txt.gz", gzip("0 1\n1 2\n") + gzip("2 3\n").substr(0, 5));
     }, {"a.txt.gz", "cut off after 8 bytes", "copy or download"}},
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
