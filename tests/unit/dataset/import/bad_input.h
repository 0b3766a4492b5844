// Broken sources, in a table for each format. Each import must fail with an Error that says where and what to
// do, and leave nothing behind.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/import/csr_archive.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {

struct BadInput {
  using Make = void (*)(const std::filesystem::path& folder);
  using Change = void (*)(ImportOptions& options);
  const char* name;
  const char* format;
  const char* source;  // inside the folder; "" is the folder itself
  Make make;
  std::vector<const char*> says;  // parts of the message, all of them required
  Change change = nullptr;
};

inline std::ostream& operator<<(std::ostream& out, const BadInput& bad) {
  return out << bad.name;
}

/// A test file makes its own instance of this.
class BadInputTest : public ::testing::TestWithParam<BadInput> {
 protected:
  static void expect_refusal(const BadInput& bad) {
    TemporaryFolder folder;
    std::filesystem::create_directory(folder / "in");
    std::filesystem::create_directory(folder / "place");
    bad.make(folder / "in");
    ImportOptions options;
    if (bad.change) bad.change(options);
    try {
      import_dataset(bad.format, folder / "in" / bad.source, folder / "place" / "out", options);
      FAIL() << "was imported";
    } catch (const Error& error) {
      for (const char* text : bad.says) EXPECT_THAT(error.what(), ::testing::HasSubstr(text));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder / "place"));
  }
};

inline std::string name_of(const testing::TestParamInfo<BadInput>& info) {
  return info.param.name;
}

}  // namespace atl
