// Writes .npz archives, without compression.
#include "dataset/format/npz.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"
#include "dataset/format/npy_writer.h"

namespace atl {
namespace {

constexpr std::uint32_t kInExtraField = 0xffffffffu;
constexpr int kVersion = 45;       // the first version with zip64
constexpr int kDate = 1 << 5 | 1;  // 1 January 1980: the same bytes whenever they are written

/// Appends little-endian numbers.
class Record {
 public:
  Record& add(std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i) bytes_ += char(value >> (8 * i) & 0xff);
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::uint32_t crc_of(std::uint32_t crc, std::string_view bytes) {
  if (bytes.empty()) return crc;  // for a null pointer zlib would begin again
  return std::uint32_t(crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

NpzWriter::NpzWriter(std::filesystem::path path) : path_(std::move(path)), file_(path_, std::ios::binary) {
  expect_written();
}

/// Names the cause by errno, which the stream leaves as the system set it.
void NpzWriter::expect_written() const {
  if (!file_)
    fail("{}: cannot be written: {}; {}", path_.string(), std::strerror(errno), write_remedy(errno));
}

void NpzWriter::write(std::string_view bytes) {
  file_.write(bytes.data(), std::streamsize(bytes.size()));
  expect_written();
  at_ += bytes.size();
}

void NpzWriter::add_bytes(const std::string& array, Dtype dtype, std::span<const Index> shape,
                          std::string_view data) {
  const std::string header = npy_header(dtype, shape);
  Entry entry{array + ".npy", crc_of(crc_of(0, header), data), header.size() + data.size(), at_};
  Record local;
  local.add(0x04034b50, 4).add(kVersion, 2).add(0, 2).add(0, 2).add(0, 2).add(kDate, 2).add(entry.crc, 4);
  local.add(kInExtraField, 4).add(kInExtraField, 4).add(entry.file.size(), 2).add(20, 2);
  write(local.bytes());
  write(entry.file);
  write(Record().add(1, 2).add(16, 2).add(entry.bytes, 8).add(entry.bytes, 8).bytes());
  write(header);
  write(data);
  entries_.push_back(std::move(entry));
}

void NpzWriter::finish() {
  const std::uint64_t directory = at_;
  for (const Entry& entry : entries_) {
    Record central;
    central.add(0x02014b50, 4).add(kVersion, 2).add(kVersion, 2).add(0, 2).add(0, 2).add(0, 2).add(kDate, 2);
    central.add(entry.crc, 4)
        .add(kInExtraField, 4)
        .add(kInExtraField, 4)
        .add(entry.file.size(), 2)
        .add(28, 2);
    central.add(0, 2).add(0, 2).add(0, 2).add(0, 4).add(kInExtraField, 4);
    write(central.bytes());
    write(entry.file);
    write(Record().add(1, 2).add(24, 2).add(entry.bytes, 8).add(entry.bytes, 8).add(entry.offset, 8).bytes());
  }
  const std::uint64_t end = at_, count = entries_.size();
  Record tail;
  tail.add(0x06064b50, 4).add(44, 8).add(kVersion, 2).add(kVersion, 2).add(0, 4).add(0, 4);
  tail.add(count, 8).add(count, 8).add(end - directory, 8).add(directory, 8);
  tail.add(0x07064b50, 4).add(0, 4).add(end, 8).add(1, 4);
  tail.add(0x06054b50, 4).add(0, 2).add(0, 2).add(count, 2).add(count, 2);
  tail.add(kInExtraField, 4).add(kInExtraField, 4).add(0, 2);
  write(tail.bytes());
  file_.close();
  expect_written();
}

}  // namespace atl
