// Broken MatrixMarket files.
#include "dataset/import/bad_input.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

void text_file(const fs::path& folder, const std::string& text) {
  write_text(folder / "a.txt", text);
}

constexpr const char* kBanner = "%%MatrixMarket matrix coordinate real general\n";

// clang-format off
const BadInput kCases[] = {
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
     {"a.txt:4", "more entries than the 1"}},
    {"mm_value_missing", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 1\n1 2\n"); }, {"a.txt:3", "value is missing"}},
    {"mm_value_nan", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 1\n1 2 nan\n"); }, {"a.txt:3", "finite"}},
    {"mm_pattern_for_weights", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n"); },
     {"a.txt:1", "a pattern matrix has no weights", "leave out --weights"},
     [](ImportOptions& o) { o.weights = true; }},
    {"mm_weight_negative", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 2\n1 2 1\n2 3 -4\n"); },
     {"a.txt:4", "value is -4", "not be negative"}, [](ImportOptions& o) { o.weights = true; }},
    {"mm_weight_beyond_double", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 1\n1 2 -1e400\n"); },
     {"a.txt:3", "'-1e400' is too large for a number"}},
    {"mm_weight_beyond_float32", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 1\n1 2 1e39\n"); },
     {"a.txt:3: the value: 1e+39 is too large for float32"}, [](ImportOptions& o) { o.weights = true; }},
    {"mm_weights_add_up_beyond_float32", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 2\n1 2 3e38\n1 2 3e38\n"); },
     {"the arc 0 → 1 is given several times", "6e+38"}, [](ImportOptions& o) { o.weights = true; }},
    {"mm_extra_field", "matrixmarket", "a.txt",
     [](const fs::path& f) { text_file(f, std::string(kBanner) + "3 3 1\n1 2 1 1\n"); }, {"a.txt:3", "more fields"}},
};
// clang-format on

using BadMatrixMarket = BadInputTest;

TEST_P(BadMatrixMarket, SaysWhereAndWhatToDoAndLeavesNothing) {
  expect_refusal(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Table, BadMatrixMarket, ::testing::ValuesIn(kCases), name_of);

}  // namespace
}  // namespace atl
