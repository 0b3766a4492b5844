// Files of other kinds, given to every reader of text: the message names the kind, and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "dataset/import/gzip.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

using std::string_literals::operator""s;

struct Kind {
  const char* name;
  std::string bytes;
  std::vector<const char*> says;
};

/// A file in a tar archive begins with a header of 512 bytes, in which "ustar" stands at 257.
std::string tar() {
  std::string header(512, '\0');
  header.replace(0, 5, "g.txt").replace(257, 6, "ustar\0"s);
  return header + "0 1\n1 2\n" + std::string(504, '\0');
}

const Kind kKinds[] = {
    {"zip", "PK\x03\x04\x14\0\0\0 0 1\n"s, {"is a zip archive", "unpack it first"}},
    {"tar", tar(), {"is a tar archive", "tar -xf"}},
    {"xlsx",
     "PK\x03\x04"s + std::string(26, '\x14') + "[Content_Types].xml <?xml",
     {"is a file of Excel", "save the sheet as CSV"}},
    {"tar_gz", gzip(tar()), {"is a tar archive", "unpack it first"}},
    {"gz_gz", gzip(gzip("0 1\n")), {"is compressed by gzip", "gunzip"}},
    {"zstd", "\x28\xb5\x2f\xfd\x24 0 1\n"s, {"is compressed by zstd", "zstd -d"}},
    {"xz", "\xfd\x37zXZ\0\0\x04 0 1\n"s, {"is compressed by xz", "unxz"}},
    {"bzip2", "BZh91AY&SY 0 1\n"s, {"is compressed by bzip2", "bunzip2"}},
    {"utf16_little", "\xff\xfe"s + "0\0 \0001\0\n\0"s, {"is text in UTF-16", "save it as UTF-8"}},
    {"utf16_big", "\xfe\xff"s + "\0000\0 \0001\0\n"s, {"is text in UTF-16"}},
    {"utf16_unmarked", "0\0 \0001\0\n\0"s, {"holds bytes of 0", "give a text file"}},
    {"npy", "\x93NUMPY\x01\0v\0{'descr'"s, {"is a NumPy array (.npy), not text"}},
    {"xml", "<?xml version=\"1.0\"?>\n<graphml/>\n", {"is XML", "edge list"}},
    {"page", "<!DOCTYPE html>\n<html>404</html>\n", {"is a web page", "download the file itself"}},
    {"parquet", "PAR1\x15\x04"s, {"is a Parquet file"}},
};

/// `make` puts the bytes where the format reads text.
struct Reader {
  const char* format;
  const char* source;
  const char* file;
};
constexpr Reader kReaders[] = {{"snap", "a.txt", "a.txt"},
                               {"adjacency", "a.txt", "a.txt"},
                               {"metis", "a.txt", "a.txt"},
                               {"matrixmarket", "a.txt", "a.txt"},
                               {"ogb", "o", "o/num-node-list.csv"}};

TEST(OtherKinds, AreNamedWithWhatToDo) {
  TemporaryFolder folder;
  for (const Kind& kind : kKinds) {
    for (const Reader& reader : kReaders) {
      write_text(folder / reader.file, kind.bytes);
      try {
        import_dataset(reader.format, folder / reader.source, folder / "out", {});
        ADD_FAILURE() << kind.name << " was imported as " << reader.format;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::StartsWith((folder / reader.file).string() + ": ")) << kind.name;
        for (const char* text : kind.says)
          EXPECT_THAT(error.what(), ::testing::HasSubstr(text)) << kind.name << " as " << reader.format;
      }
    }
  }
}

TEST(OtherKinds, JsonAndPicklesAreToldToo) {
  TemporaryFolder folder;
  const auto refusal = [&](const char* format) -> std::string {
    try {
      import_dataset(format, folder / format, folder / "out", {});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  write_text(folder / "graphsaint/class_map.json", "\xff\xfe{\0}\0"s);
  write_text(folder / "graphsaint/role.json", "{}");
  write_text(folder / "graphsaint/adj_full.npz", "BZh91AY&SY");
  EXPECT_THAT(refusal("graphsaint"), ::testing::HasSubstr("adj_full.npz: is compressed by bzip2"));
  write_text(folder / "planetoid/ind.t.allx", gzip("x"));
  EXPECT_THAT(refusal("planetoid"), ::testing::HasSubstr("ind.t.allx: is compressed by gzip"));
}

/// Text stays text, gzipped or not, however short.
TEST(OtherKinds, TextIsNone) {
  TemporaryFolder folder;
  for (const std::string& text : {"0 1\n"s, "0 1"s, gzip("0 1\n"), "\xEF\xBB\xBF"s + "0 1\n"s}) {
    write_text(folder / "a.txt", text);
    ImportOptions options;
    options.replace = true;
    EXPECT_EQ(import_dataset("snap", folder / "a.txt", folder / "out", options).arcs, 1);
  }
}

}  // namespace
}  // namespace atl
