#include "dataset/format/npz.h"

#include <zlib.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/function_ref.h"
#include "base/text.h"
#include "base/types.h"
#include "dataset/format/byte_source.h"
#include "dataset/format/mapped_file.h"

namespace atl {
namespace {

// Unpacks the deflated data of a zip entry (RFC 1951, without a header) piece by piece.

/// CRC-32 of `bytes`, continued from the checksum `before` of the bytes before them (0: none).
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0);

constexpr std::size_t kUnpackedPiece = 1 << 18;

struct Stream : z_stream {
  Stream() : z_stream{} { ATOLL_CHECK(inflateInit2(this, -MAX_WBITS) == Z_OK, "zlib does not start"); }
  ~Stream() { inflateEnd(this); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

/// Hands the unpacked bytes to `take` in order, 256 KiB at a time, with the number of packed bytes read so
/// far. Returns their CRC-32. Throws Error, which begins with `name`, unless they are `bytes` in all.
std::uint32_t inflate_pieces(std::string_view packed, Index bytes, const std::string& name,
                             FunctionRef<void(std::string_view, std::size_t)> take) {
  Stream stream;
  std::vector<char> piece(kUnpackedPiece);
  std::size_t read = 0;
  Index made = 0;
  std::uint32_t crc = 0;
  int status = Z_OK;
  while (status == Z_OK) {  // zlib counts in 32 bits: feed and drain in pieces
    const std::size_t in = std::min(packed.size() - read, kUnpackedPiece);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
    stream.avail_in = uInt(in);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = uInt(kUnpackedPiece);
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    const std::string_view out(piece.data(), kUnpackedPiece - stream.avail_out);
    made += Index(out.size());
    if (made > bytes) break;  // stop once the data exceeds its announced size
    crc = crc32_of(out, crc);
    take(out, read);
  }
  if (status != Z_STREAM_END || made != bytes) fail_damaged_zip(name, "its compressed data is broken");
  return crc;
}

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) {
  return std::uint32_t(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

constexpr Index kHeldBytes = 1 << 20;           // unpacked arrays up to this size stay in memory
constexpr std::size_t kForgetPacked = 4 << 20;  // forgotten at a time while a mapped file is read

}  // namespace

NpzFile NpzFile::open(const std::filesystem::path& path, std::filesystem::path scratch) {
  auto file = std::make_shared<const MappedFile>(path);
  NpzFile archive = over(file->bytes(), path.string(), file);
  archive.file_ = std::move(file);
  archive.scratch_ = std::move(scratch);
  return archive;
}

NpzFile NpzFile::over(std::string_view bytes, std::string name, std::shared_ptr<const void> owner) {
  const std::string_view other = bytes.starts_with("PK") ? "" : known_kind(bytes.substr(0, kKindBytes));
  if (!other.empty()) fail("{}: {}; give an .npz archive", name, other);
  NpzFile archive;
  archive.name_ = std::move(name);
  archive.bytes_ = bytes;
  archive.owner_ = std::move(owner);
  for (const auto& [file, entry] : read_zip_directory(bytes, archive.name_)) {
    archive.entries_[file.ends_with(".npy") ? file.substr(0, file.size() - 4) : file] = entry;
  }
  return archive;
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> found;
  for (const auto& [array, entry] : entries_) found.push_back(array);
  return found;
}

NpyArray NpzFile::read(const std::string& array) const {
  const auto found = entries_.find(array);
  if (found == entries_.end()) {
    fail("{}: holds no array '{}'; it holds: {}", name_, array, joined(names(), ", "));
  }
  const ZipEntry& entry = found->second;
  const Packed packed{entry, packed_bytes(bytes_, entry, name_ + ":" + array), name_ + ":" + array};
  if (entry.method == 0) return stored(packed);
  if (entry.method != 8) {
    fail("{}: is compressed by method {}; write it with numpy.savez or savez_compressed", packed.label,
         entry.method);
  }
  // deflate packs at most 1032 : 1, so a larger claim means damage
  if (entry.bytes / 1033 > entry.packed_bytes) fail_damaged_zip(packed.label, "its size is out of range");
  return scratch_.empty() || entry.bytes <= kHeldBytes ? unpacked_in_memory(packed)
                                                       : unpacked_on_disk(packed);
}

NpyArray NpzFile::read_one_of(std::span<const char* const> names) const {
  std::string found;
  for (const char* name : names) {
    if (!contains(name)) continue;
    if (!found.empty())
      fail("{}: holds both '{}' and '{}', and each could be meant; leave one out", name_, found, name);
    found = name;
  }
  return read(found.empty() ? names.front() : found);
}

NpyArray NpzFile::stored(const Packed& packed) const {
  std::uint32_t crc = 0;
  for (std::size_t begin = 0; begin < packed.bytes.size(); begin += kForgetPacked) {
    crc = crc32_of(packed.bytes.substr(begin, kForgetPacked), crc);
    if (file_) file_->forget(packed.bytes.substr(begin, kForgetPacked));
  }
  check_crc(packed, crc);
  return file_ ? NpyArray::in_file(file_, packed.bytes, packed.label)
               : NpyArray::over(packed.bytes, packed.label, owner_);
}

NpyArray NpzFile::unpacked_in_memory(const Packed& packed) const {
  auto all = std::make_shared<std::string>();
  all->reserve(std::size_t(packed.entry.bytes));
  check_crc(packed, inflate_pieces(packed.bytes, packed.entry.bytes, packed.label,
                                   [&](std::string_view piece, std::size_t) { all->append(piece); }));
  return NpyArray::over(*all, packed.label, all);
}

/// Gives the memory of the packed bytes back as it reads them, because they lie in a mapped file.
NpyArray NpzFile::unpacked_on_disk(const Packed& packed) const {
  ScratchFile file(scratch_);
  std::size_t forgotten = 0;
  const auto take = [&](std::string_view piece, std::size_t read) {
    file.append(piece.data(), Index(piece.size()));
    if (read - forgotten < kForgetPacked) return;
    file_->forget(packed.bytes.substr(forgotten, read - forgotten));
    forgotten = read;
  };
  check_crc(packed, inflate_pieces(packed.bytes, packed.entry.bytes, packed.label, take));
  file.flush();
  auto mapped = std::make_shared<const MappedFile>(file.map());
  const std::string_view bytes = mapped->bytes();
  return NpyArray::in_file(std::move(mapped), bytes, packed.label);
}

void NpzFile::check_crc(const Packed& packed, std::uint32_t crc) const {
  if (crc != packed.entry.crc) fail_damaged_zip(packed.label, "its CRC-32 differs");
}

namespace {

constexpr std::string_view kEndRecord("PK\x05\x06", 4), kEnd64Record("PK\x06\x06", 4),
    kEnd64Locator("PK\x06\x07", 4), kCentralRecord("PK\x01\x02", 4), kLocalRecord("PK\x03\x04", 4);
constexpr std::size_t kEndBytes = 22, kCentralBytes = 46, kLocalBytes = 30;

/// A little-endian number of `width` bytes. Bytes beyond the end count as 0; callers make sure that there are
/// none.
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

/// Searches for the end record from the back, because a comment may follow it.
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

/// The extra field of zip64. It lists, in a fixed order, the values that are too large for a record's 32
/// bits.
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
