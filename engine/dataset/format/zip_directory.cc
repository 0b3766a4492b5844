#include "dataset/format/zip_directory.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace atl {
namespace {

constexpr std::string_view kEndRecord("PK\x05\x06", 4), kEnd64Record("PK\x06\x06", 4),
    kEnd64Locator("PK\x06\x07", 4), kCentralRecord("PK\x01\x02", 4), kLocalRecord("PK\x03\x04", 4);
constexpr std::size_t kEndBytes = 22, kCentralBytes = 46, kLocalBytes = 30;

/// A little-endian number of `width` bytes; 0 beyond the end, which callers have excluded.
std::uint64_t number_at(std::string_view bytes, std::size_t at, int width) {
  std::uint64_t value = 0;
  for (int i = width - 1; i >= 0; --i) {
    const std::size_t place = at + std::size_t(i);
    value = value << 8 | (place < bytes.size() ? static_cast<unsigned char>(bytes[place]) : 0u);
  }
  return value;
}

struct Directory {
  std::uint64_t offset = 0, entries = 0;
};

/// Finds the end record from the back, as a comment may follow it.
Directory find_directory(std::string_view bytes, const std::string& name) {
  const std::size_t end = bytes.rfind(kEndRecord);
  if (end == std::string_view::npos || bytes.size() - end < kEndBytes)
    fail_damaged_zip(name, "its directory is missing");
  Directory directory{number_at(bytes, end + 16, 4), number_at(bytes, end + 10, 2)};
  const bool wide = directory.offset == 0xffffffffu || directory.entries == 0xffffu;
  if (wide && end >= 20 && bytes.substr(end - 20, 4) == kEnd64Locator) {
    const std::uint64_t end64 = number_at(bytes, end - 12, 8);
    if (bytes.size() < 56 || end64 > bytes.size() - 56 || bytes.substr(end64, 4) != kEnd64Record) {
      fail_damaged_zip(name, "its zip64 directory is missing");
    }
    directory = {number_at(bytes, end64 + 48, 8), number_at(bytes, end64 + 32, 8)};
  }
  return directory;
}

/// Fields that the 32-bit record marks as too large stand in this extra field, in a fixed order.
class Zip64Extra {
 public:
  explicit Zip64Extra(std::string_view extra) {
    while (extra.size() >= 4) {
      const std::size_t bytes = std::min<std::size_t>(number_at(extra, 2, 2), extra.size() - 4);
      if (number_at(extra, 0, 2) == 1) rest_ = extra.substr(4, bytes);
      extra.remove_prefix(4 + bytes);
    }
  }
  std::uint64_t take(std::uint64_t narrow) {
    if (narrow != 0xffffffffu || rest_.size() < 8) return narrow;
    const std::uint64_t wide = number_at(rest_, 0, 8);
    rest_.remove_prefix(8);
    return wide;
  }

 private:
  std::string_view rest_;
};

Index checked_index(std::uint64_t value, const std::string& name) {
  if (value > std::uint64_t(std::numeric_limits<Index>::max() / 2))
    fail_damaged_zip(name, "a size is out of range");
  return Index(value);
}

ZipEntry parse_entry(std::string_view record, std::string_view extra, const std::string& name) {
  if (number_at(record, 8, 2) & 1u) fail("{}: is encrypted; write it without a password", name);
  Zip64Extra wide(extra);
  ZipEntry entry;
  entry.method = int(number_at(record, 10, 2));
  entry.crc = std::uint32_t(number_at(record, 16, 4));
  entry.bytes = checked_index(wide.take(number_at(record, 24, 4)), name);
  entry.packed_bytes = checked_index(wide.take(number_at(record, 20, 4)), name);
  entry.header_offset = checked_index(wide.take(number_at(record, 42, 4)), name);
  return entry;
}

}  // namespace

void fail_damaged_zip(const std::string& name, const std::string& what) {
  fail("{}: is not a whole .npz archive: {}; copy or download it again", name, what);
}

std::map<std::string, ZipEntry> read_zip_directory(std::string_view bytes, const std::string& name) {
  const Directory directory = find_directory(bytes, name);
  std::string_view rest =
      directory.offset <= bytes.size() ? bytes.substr(directory.offset) : std::string_view();
  std::map<std::string, ZipEntry> entries;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (rest.size() < kCentralBytes || !rest.starts_with(kCentralRecord))
      fail_damaged_zip(name, "its directory is torn");
    const std::size_t name_bytes = number_at(rest, 28, 2), extra_bytes = number_at(rest, 30, 2);
    const std::size_t record_bytes = kCentralBytes + name_bytes + extra_bytes + number_at(rest, 32, 2);
    if (rest.size() < record_bytes) fail_damaged_zip(name, "its directory is torn");
    const std::string_view extra = rest.substr(kCentralBytes + name_bytes, extra_bytes);
    entries[std::string(rest.substr(kCentralBytes, name_bytes))] = parse_entry(rest, extra, name);
    rest.remove_prefix(record_bytes);
  }
  return entries;
}

std::string_view packed_bytes(std::string_view archive, const ZipEntry& entry, const std::string& name) {
  const std::size_t header = std::size_t(entry.header_offset);
  if (header > archive.size() || archive.size() - header < kLocalBytes ||
      archive.substr(header, 4) != kLocalRecord) {
    fail_damaged_zip(name, "the entry is missing");
  }
  const std::size_t begin =
      header + kLocalBytes + number_at(archive, header + 26, 2) + number_at(archive, header + 28, 2);
  if (begin > archive.size() || archive.size() - begin < std::size_t(entry.packed_bytes)) {
    fail_damaged_zip(name, "the entry is cut off");
  }
  return archive.substr(begin, std::size_t(entry.packed_bytes));
}

}  // namespace atl
