// Data sets that were damaged after they were written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/dataset.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

struct Damage {
  const char* name;
  void (*make)(const fs::path& cora);
  std::vector<const char*> says;
};

void replace_in_meta(const fs::path& cora, const std::string& from, const std::string& to) {
  std::string text = read_bytes(cora / "meta.json");
  text.replace(text.find(from), from.size(), to);
  write_text(cora / "meta.json", text);
}

const Damage kDamages[] = {
    {"no_meta",
     [](const fs::path& d) { fs::remove(d / "meta.json"); },
     {"not a data set", "atoll dataset import"}},
    // stands for a folder of another user, which the tests' user may be allowed to read
    {"meta_unreadable",
     [](const fs::path& d) {
       fs::remove(d / "meta.json");
       fs::create_symlink("meta.json", d / "meta.json");
     },
     {"meta.json: cannot be read: Too many levels of symbolic links; check its permissions"}},
    {"meta_cut_off",
     [](const fs::path& d) { fs::resize_file(d / "meta.json", 100); },
     {"meta.json", "import"}},
    {"meta_edited",
     [](const fs::path& d) { replace_in_meta(d, "\"licence\": \"", "\"licence\": \"X"); },
     {"meta.json", "is damaged"}},
    {"meta_field_missing",
     [](const fs::path& d) { replace_in_meta(d, "\"arcs\"", "\"acrs\""); },
     {"meta.json", "'arcs' is missing"}},
    {"meta_wrong_type",
     [](const fs::path& d) { replace_in_meta(d, "\"arcs\": 10556", "\"arcs\": \"many\""); },
     {"meta.json", "'arcs'", "many"}},
    {"meta_of_another_format",
     [](const fs::path& d) { replace_in_meta(d, "\"atollDataset\": 2", "\"atollDataset\": 9"); },
     {"format 9", "import"}},
    {"meta_of_the_neutral_layout",
     [](const fs::path& d) { replace_in_meta(d, "\"atollDataset\"", "\"num_nodes\""); },
     {"meta.json: isn't a data set's", "imported first: atoll dataset import --format npy"}},
    {"columns_missing", [](const fs::path& d) { fs::remove(d / "columns.npy"); }, {"columns.npy", "missing"}},
    {"columns_torn",
     [](const fs::path& d) { fs::resize_file(d / "columns.npy", 1000); },
     {"columns.npy", "cut off"}},
    {"labels_of_wrong_dtype",
     [](const fs::path& d) { write_array(d / "labels.npy", Dtype::kInt64, std::vector<std::int64_t>(2708)); },
     {"labels.npy", "int64", "int32"}},
    {"labels_of_wrong_shape",
     [](const fs::path& d) { write_array(d / "labels.npy", Dtype::kInt32, std::vector<std::int32_t>(7)); },
     {"labels.npy", "(7)", "(2708)"}},
    {"offsets_of_another_graph",
     [](const fs::path& d) {
       write_array(d / "offsets.npy", Dtype::kInt64, std::vector<std::int64_t>(2709));
     },
     {"offsets.npy", "0 to 10556"}},
};

class DamageTest : public ::testing::TestWithParam<Damage> {};

TEST_P(DamageTest, IsFoundOnOpening) {
  TemporaryFolder folder;
  import_dataset("npy", kCora, folder / "cora", {});
  GetParam().make(folder / "cora");
  try {
    Dataset::open(folder / "cora");
    FAIL() << "was opened";
  } catch (const Error& error) {
    for (const char* text : GetParam().says) EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
  }
}

INSTANTIATE_TEST_SUITE_P(Table, DamageTest, ::testing::ValuesIn(kDamages),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace atl
