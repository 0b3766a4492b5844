// Imports to a disk that fills up. tests/e2e/disk_full does the same with real disks and runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "base/error.h"
#include "dataset/dataset.h"
#include "dataset/export.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// While it lives no file of this process may grow beyond so many bytes: what a full disk does, without the
/// disk (but with a remedy of its own).
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  void (*signal_)(int);
};

/// Cora's files, from the largest that still has room to none.
class FullDisk : public testing::TestWithParam<Index> {};

TEST_P(FullDisk, IsNamedWithTheFileAndLeavesNothing) {
  TemporaryFolder folder;
  fs::create_directory(folder / "place");
  try {
    const SmallFiles small{rlim_t(GetParam())};
    import_dataset("npy", kCora, folder / "place" / "out", {});
    FAIL() << "was imported";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr((folder / "place").string()));
    EXPECT_THAT(error.what(), testing::HasSubstr("cannot be written"));
    EXPECT_THAT(error.what(), testing::HasSubstr("raise the limit on file sizes (ulimit -f)"));
  }
  EXPECT_TRUE(fs::is_empty(folder / "place"));
}

INSTANTIATE_TEST_SUITE_P(Bytes, FullDisk, testing::Values(0, 1, 200, 3000, 25'000, 50'000, 150'000, 190'000));

TEST(FullDiskExport, NamesTheFileAndTheCauseAndLeavesNothing) {
  TemporaryFolder folder;
  import_dataset("npy", kCora, folder / "in", {});
  const Dataset cora = Dataset::open(folder / "in");
  fs::create_directory(folder / "place");
  for (const rlim_t limit : {0, 30'000, 85'000, 120'000}) {
    const SmallFiles small{limit};
    EXPECT_THAT([&] { export_dataset(cora, folder / "place" / "out"); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("cannot be written: File too large; raise")))
        << limit;
    EXPECT_TRUE(fs::is_empty(folder / "place"));
  }
}

TEST(FullDiskReplacing, KeepsTheDataSetThatIsThere) {
  TemporaryFolder folder;
  const std::string before = import_dataset("npy", kCora, folder / "out", {}).checksum;
  {
    const SmallFiles small(50'000);
    ImportOptions options;
    options.replace = true;
    EXPECT_THROW(import_dataset("npy", kCora, folder / "out", options), Error);
  }
  const Dataset kept = Dataset::open(folder / "out");
  kept.verify();
  EXPECT_EQ(kept.meta().checksum, before);
}

}  // namespace
}  // namespace atl
