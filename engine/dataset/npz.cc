#include "dataset/npz.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "dataset/mapped_file.h"

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

[[noreturn]] void fail_damaged(const std::string& name, const std::string& what) {
  fail("{}: is not a whole .npz archive: {}; copy or download it again", name, what);
}

struct Directory {
  std::uint64_t offset = 0, entries = 0;
};

/// Finds the end record from the back, as a comment may follow it.
Directory find_directory(std::string_view bytes, const std::string& name) {
  const std::size_t end = bytes.rfind(kEndRecord);
  if (end == std::string_view::npos || bytes.size() - end < kEndBytes)
    fail_damaged(name, "its directory is missing");
  Directory directory{number_at(bytes, end + 16, 4), number_at(bytes, end + 10, 2)};
  const bool wide = directory.offset == 0xffffffffu || directory.entries == 0xffffu;
  if (wide && end >= 20 && bytes.substr(end - 20, 4) == kEnd64Locator) {
    const std::uint64_t end64 = number_at(bytes, end - 12, 8);
    if (bytes.size() < 56 || end64 > bytes.size() - 56 || bytes.substr(end64, 4) != kEnd64Record) {
      fail_damaged(name, "its zip64 directory is missing");
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
    fail_damaged(name, "a size is out of range");
  return Index(value);
}

/// zlib counts in 32 bits, arrays in 64: feed and drain in pieces.
void inflate_all(std::string_view packed, std::string& out, const std::string& name) {
  constexpr std::size_t kPiece = 1u << 30;
  z_stream stream{};
  ATOLL_CHECK(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib does not start");
  std::size_t taken = 0, made = 0;
  int status = Z_OK;
  while (status == Z_OK) {
    const std::size_t in = std::min(packed.size() - taken, kPiece),
                      room = std::min(out.size() - made, kPiece);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
    stream.avail_in = uInt(in);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + made);
    stream.avail_out = uInt(room);
    status = inflate(&stream, Z_NO_FLUSH);
    taken += in - stream.avail_in;
    made += room - stream.avail_out;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || made != out.size()) fail_damaged(name, "its compressed data is broken");
}

std::uint32_t crc_of(std::string_view bytes) {
  return std::uint32_t(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

NpzFile NpzFile::open(const std::filesystem::path& path) {
  auto file = std::make_shared<const MappedFile>(path);
  return over(file->bytes(), path.string(), file);
}

NpzFile NpzFile::over(std::string_view bytes, std::string name, std::shared_ptr<const void> owner) {
  NpzFile archive;
  archive.name_ = std::move(name);
  archive.bytes_ = bytes;
  archive.owner_ = std::move(owner);
  archive.read_directory();
  return archive;
}

void NpzFile::read_directory() {
  const Directory directory = find_directory(bytes_, name_);
  std::string_view rest =
      directory.offset <= bytes_.size() ? bytes_.substr(directory.offset) : std::string_view();
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (rest.size() < kCentralBytes || !rest.starts_with(kCentralRecord))
      fail_damaged(name_, "its directory is torn");
    const std::size_t name_bytes = number_at(rest, 28, 2), extra_bytes = number_at(rest, 30, 2);
    const std::size_t record_bytes = kCentralBytes + name_bytes + extra_bytes + number_at(rest, 32, 2);
    if (rest.size() < record_bytes) fail_damaged(name_, "its directory is torn");
    std::string file(rest.substr(kCentralBytes, name_bytes));
    if (file.ends_with(".npy")) file.resize(file.size() - 4);
    entries_[file] = parse_entry(rest, rest.substr(kCentralBytes + name_bytes, extra_bytes));
    rest.remove_prefix(record_bytes);
  }
}

NpzFile::Entry NpzFile::parse_entry(std::string_view record, std::string_view extra) const {
  if (number_at(record, 8, 2) & 1u) fail("{}: is encrypted; write it without a password", name_);
  Zip64Extra wide(extra);
  Entry entry;
  entry.method = int(number_at(record, 10, 2));
  entry.crc = std::uint32_t(number_at(record, 16, 4));
  entry.bytes = checked_index(wide.take(number_at(record, 24, 4)), name_);
  entry.packed_bytes = checked_index(wide.take(number_at(record, 20, 4)), name_);
  entry.header_offset = checked_index(wide.take(number_at(record, 42, 4)), name_);
  return entry;
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> found;
  for (const auto& [array, entry] : entries_) found.push_back(array);
  return found;
}

Index NpzFile::memory_bytes(const std::string& array) const {
  const auto found = entries_.find(array);
  return found == entries_.end() || found->second.method == 0 ? 0 : found->second.bytes;
}

std::string_view NpzFile::packed(const Entry& entry, const std::string& array) const {
  const std::size_t header = std::size_t(entry.header_offset);
  if (header > bytes_.size() || bytes_.size() - header < kLocalBytes ||
      bytes_.substr(header, 4) != kLocalRecord) {
    fail_damaged(name_, fmt::format("the entry '{}' is missing", array));
  }
  const std::size_t begin =
      header + kLocalBytes + number_at(bytes_, header + 26, 2) + number_at(bytes_, header + 28, 2);
  if (begin > bytes_.size() || bytes_.size() - begin < std::size_t(entry.packed_bytes)) {
    fail_damaged(name_, fmt::format("the entry '{}' is cut off", array));
  }
  return bytes_.substr(begin, std::size_t(entry.packed_bytes));
}

NpyArray NpzFile::read(const std::string& array) const {
  const auto found = entries_.find(array);
  if (found == entries_.end()) {
    fail("{}: holds no array '{}'; it holds: {}", name_, array, fmt::format("{}", fmt::join(names(), ", ")));
  }
  const Entry& entry = found->second;
  const std::string label = name_ + ":" + array;
  std::string_view contents = packed(entry, array);
  std::shared_ptr<const void> owner = owner_;
  if (entry.method == 8) {
    // deflate packs at most 1032 : 1, so a larger claim is damage and not a reason to allocate
    if (entry.bytes / 1033 > entry.packed_bytes) fail_damaged(label, "its size is impossible");
    auto unpacked = std::make_shared<std::string>(std::size_t(entry.bytes), '\0');
    inflate_all(contents, *unpacked, label);
    contents = *unpacked;
    owner = unpacked;
  } else if (entry.method != 0) {
    fail("{}: is compressed by method {}; write it with numpy.savez or savez_compressed", label,
         entry.method);
  }
  if (crc_of(contents) != entry.crc) fail_damaged(label, "its CRC-32 differs");
  return NpyArray::over(contents, label, owner);
}

}  // namespace atl
