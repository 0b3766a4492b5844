// --replace deletes only what the same command has made.
#include "dataset/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "dataset/generate/generate.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class Replaced : public testing::Test {
 protected:
  Replaced() {
    std::ofstream(source_) << "0 1\n1 2\n2 0\n";
    import_dataset("snap", source_, dataset_, {});
    export_dataset(Dataset::open(dataset_), exported_);
  }
  static void refused(const fs::path& place, Replaceable kind, const std::vector<fs::path>& sources,
                      const char* words) {
    EXPECT_THAT([&] { check_replaceable(place, kind, sources); },
                testing::ThrowsMessage<Error>(
                    AllOf(HasSubstr(place.string()), HasSubstr(words), HasSubstr("choose another DST"))));
  }

  TemporaryFolder folder_;
  const fs::path source_ = folder_ / "list.txt", dataset_ = folder_ / "set", exported_ = folder_ / "out";
};

TEST_F(Replaced, MayBeWhatTheCommandMakes) {
  EXPECT_NO_THROW(check_replaceable(dataset_, Replaceable::kDataset, {source_}));
  EXPECT_NO_THROW(check_replaceable(exported_, Replaceable::kExport, {dataset_}));
  EXPECT_NO_THROW(check_replaceable(folder_ / "absent", Replaceable::kDataset, {source_}));
  fs::create_directory(folder_ / "empty");
  EXPECT_NO_THROW(check_replaceable(folder_ / "empty", Replaceable::kExport, {dataset_}));
}

TEST_F(Replaced, MayBeTorn) {
  for (const fs::path& folder : {dataset_, exported_})
    fs::resize_file(folder / "meta.json", fs::file_size(folder / "meta.json") / 2);
  EXPECT_NO_THROW(check_replaceable(dataset_, Replaceable::kDataset, {source_}));
  EXPECT_NO_THROW(check_replaceable(exported_, Replaceable::kExport, {dataset_}));
}

TEST_F(Replaced, IsNothingElse) {
  fs::create_directory(folder_ / "thesis");
  std::ofstream(folder_ / "thesis" / "thesis.tex") << "years";
  for (const Replaceable kind : {Replaceable::kDataset, Replaceable::kExport}) {
    refused(folder_ / "thesis", kind, {}, "thesis.tex");
    refused(source_, kind, {}, "this is a file");
  }
  fs::create_directory(folder_ / "source");
  std::ofstream(folder_ / "source" / "edges.npy") << "made by somebody, in the layout of an export";
  std::ofstream(folder_ / "source" / "meta.json") << R"({"num_nodes": 3})";
  refused(folder_ / "source", Replaceable::kExport, {}, "of an export alone");
  refused(dataset_, Replaceable::kExport, {}, "of an export alone");
  refused(exported_, Replaceable::kDataset, {}, "of a data set alone");
}

TEST_F(Replaced, IsNotWhatIsRead) {
  refused(source_, Replaceable::kDataset, {source_}, "would delete");
  refused(dataset_, Replaceable::kExport, {dataset_}, "would delete");
  fs::copy_file(source_, dataset_ / "list.txt");
  refused(dataset_, Replaceable::kDataset, {dataset_ / "list.txt"}, "would delete");
  fs::create_directory_symlink(dataset_, folder_ / "link");
  refused(folder_ / "link", Replaceable::kDataset, {dataset_ / "list.txt"}, "would delete");
}

TEST_F(Replaced, IsJudgedForWhoeverCallsTheLibrary) {
  ImportOptions options;
  options.replace = true;
  const auto says = [](const char* words) { return testing::ThrowsMessage<Error>(HasSubstr(words)); };
  EXPECT_THAT([&] { import_dataset("snap", source_, source_, options); }, says("would delete"));
  EXPECT_THAT([&] { export_dataset(Dataset::open(dataset_), dataset_, true); }, says("would delete"));
  const CommunitySpec spec{.vertices = 100, .average_degree = 4, .features = 4, .classes = 2};
  EXPECT_THAT([&] { generate_dataset(spec, exported_, {.replace = true}); }, says("of a data set alone"));
  EXPECT_TRUE(fs::exists(source_) && fs::exists(exported_ / "edges.npy"));
}

}  // namespace
}  // namespace atl
