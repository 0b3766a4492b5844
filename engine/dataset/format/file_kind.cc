#include "dataset/format/file_kind.h"

#include <algorithm>
#include <cctype>

namespace atl {
namespace {

using namespace std::string_view_literals;

struct Kind {
  std::size_t at;  // place of its mark
  std::string_view mark, says;
};

constexpr std::string_view kXml =
    "is XML (GraphML and GEXF are), which isn't read: write an edge list, two ids per line";
constexpr std::string_view kPage = "is a web page, not data: download the file itself";
constexpr std::string_view kUtf16 = "is text in UTF-16: save it as UTF-8";

constexpr Kind kKinds[] = {
    {0, "PK\x03\x04"sv, "is a zip archive, as .npz and .pt are: unpack it first (unzip)"},
    {0, "PK\x05\x06"sv, "is an empty zip archive: download it again"},
    {257, "ustar"sv, "is a tar archive: unpack it first (tar -xf)"},
    {0, "\x1f\x8b"sv, "is compressed by gzip: unpack it first (gunzip)"},
    {0, "\x28\xb5\x2f\xfd"sv, "is compressed by zstd: unpack it first (zstd -d)"},
    {0, "\xfd\x37zXZ\0"sv, "is compressed by xz: unpack it first (unxz)"},
    {0, "BZh"sv, "is compressed by bzip2: unpack it first (bunzip2)"},
    {0, "7z\xbc\xaf\x27\x1c"sv, "is a 7z archive: unpack it first (7z x)"},
    {0, "\xff\xfe"sv, kUtf16},
    {0, "\xfe\xff"sv, kUtf16},
    {0, "\x93NUMPY"sv, "is a NumPy array (.npy), not text"},
    {0, "PAR1"sv, "is a Parquet file: write it as text, or its columns as .npy"},
    {0, "\x89HDF"sv, "is an HDF5 file: write it as text, or its arrays as .npy"},
    {0, "<?xml"sv, kXml},
    {0, "<graphml"sv, kXml},
    {0, "<!doctype html"sv, kPage},
    {0, "<html"sv, kPage},
};

/// Ignores the case of letters, because HTML may have any.
bool stands_at(const Kind& kind, std::string_view begin) {
  if (begin.size() < kind.at + kind.mark.size()) return false;
  return std::ranges::equal(begin.substr(kind.at, kind.mark.size()), kind.mark, [](char a, char b) {
    return a == b || std::tolower(static_cast<unsigned char>(a)) == static_cast<unsigned char>(b);
  });
}

}  // namespace

std::string_view known_kind(std::string_view begin) {
  const auto found = std::ranges::find_if(kKinds, [&](const Kind& kind) { return stands_at(kind, begin); });
  return found == std::end(kKinds) ? std::string_view() : found->says;
}

std::string_view not_text(std::string_view begin) {
  const std::string_view known = known_kind(begin);
  if (!known.empty() || begin.find('\0') == std::string_view::npos) return known;
  return "holds bytes of 0, which no text does: give a text file, or one that is gzipped";
}

}  // namespace atl
