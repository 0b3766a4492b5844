// Places to which nothing can be imported, and a format that doesn't exist.
#include <unistd.h>

#include "dataset/dataset.h"
#include "dataset/import/bad_input.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

TEST(BadFormat, IsNamedWithTheNearest) {
  TemporaryFolder folder;
  try {
    import_dataset("planetiod", kCora, folder / "out", {});
    FAIL();
  } catch (const Error& error) {
    for (const char* text : {"'planetiod'", "did you mean planetoid", "known: npy, planetoid"})
      EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
  }
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(BadFormat, ThatPeopleHaveIsAnsweredAndNotGuessed) {
  TemporaryFolder folder;
  const auto refusal = [&](const char* format) -> std::string {
    try {
      import_dataset(format, kCora, folder / "out", {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("pyg"), ::testing::AllOf(::testing::HasSubstr("'pyg' isn't read"),
                                               ::testing::HasSubstr("docs/datasets.md")));
  EXPECT_THAT(refusal("graphml"), ::testing::HasSubstr("'graphml' isn't read: write an edge list"));
  EXPECT_THAT(refusal("edgelist"), ::testing::HasSubstr("'edgelist' is 'snap' (known: npy"));
  EXPECT_THAT(refusal("xyz"), ::testing::HasSubstr("--format: 'xyz' is unknown (known: npy"));
}

TEST(BadPlace, WhatExistsIsNotOverwritten) {
  TemporaryFolder folder;
  write_text(folder / "out" / "mine", "x");
  EXPECT_THROW(import_dataset("npy", kCora, folder / "out", {}), Error);
  EXPECT_EQ(read_bytes(folder / "out" / "mine"), "x");
}

TEST(BadPlace, AFileInTheWayIsNamed) {
  TemporaryFolder folder;
  write_text(folder / "file", "x");
  try {
    import_dataset("npy", kCora, folder / "file" / "out", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a part of the path is a file"));
  }
}

/// Nobody may make a folder in /proc, root neither.
TEST(BadPlace, AFolderThatCannotBeMadeIsNamed) {
  try {
    import_dataset("npy", kCora, "/proc/atoll/out", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("/proc/atoll: cannot be written"));
  }
}

/// While it lives a process of root is one of nobody, and may not write everywhere.
struct AsNobody {
  const bool root = ::geteuid() == 0;
  AsNobody() { EXPECT_TRUE(!root || ::seteuid(65534) == 0); }
  ~AsNobody() { EXPECT_TRUE(!root || ::seteuid(0) == 0); }
};

TEST(BadPlace, AFolderThatMayNotBeWrittenIsNamed) {
  TemporaryFolder folder;
  fs::create_directory(folder / "closed");
  fs::permissions(folder / "closed", fs::perms::owner_read | fs::perms::owner_exec);
  try {
    const AsNobody nobody;
    const DatasetWriter writer(folder / "closed" / "out", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("choose a folder that you may write to"));
  }
}

}  // namespace
}  // namespace atl
