#include "dataset/format/npy_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"

namespace atl {
namespace {

constexpr std::size_t kHeaderBytes = 128;
constexpr std::size_t kWrittenBytes = 1 << 20;

std::pair<std::string_view, Index> code_and_bytes(Dtype dtype) {
  switch (dtype) {
    case Dtype::kBool:
      return {"|b1", 1};
    case Dtype::kInt8:
      return {"|i1", 1};
    case Dtype::kInt16:
      return {"<i2", 2};
    case Dtype::kInt32:
      return {"<i4", 4};
    case Dtype::kInt64:
      return {"<i8", 8};
    case Dtype::kUint8:
      return {"|u1", 1};
    case Dtype::kUint16:
      return {"<u2", 2};
    case Dtype::kUint32:
      return {"<u4", 4};
    case Dtype::kUint64:
      return {"<u8", 8};
    case Dtype::kFloat16:
      return {"<f2", 2};
    case Dtype::kFloat32:
      return {"<f4", 4};
    case Dtype::kFloat64:
      return {"<f8", 8};
    case Dtype::kBytes:
      return {"|S3", 3};
    case Dtype::kUnicode:
      break;
  }
  return {};
}

void write_all(int file, const char* data, std::size_t bytes, const std::filesystem::path& path) {
  while (bytes > 0) {
    const ssize_t wrote = ::write(file, data, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      fail("{}: cannot be written: {}; {}", path.string(), std::strerror(errno), write_remedy(errno));
    }
    data += wrote;
    bytes -= std::size_t(wrote);
  }
}

}  // namespace

std::string npy_header(Dtype dtype, std::span<const Index> shape) {
  return npy_header(code_and_bytes(dtype).first, shape);
}

std::string npy_header(std::string_view code, std::span<const Index> shape) {
  std::string lengths;
  for (Index length : shape) lengths += fmt::format("{},", length);
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", code, lengths);
  std::string header("\x93NUMPY\x01\x00\x76\x00", 10);  // format 1.0, 118 bytes of text
  ATOLL_CHECK(header.size() + text.size() < kHeaderBytes, "{} dimensions", shape.size());
  header += text;
  header.append(kHeaderBytes - header.size() - 1, ' ');
  return header + '\n';
}

NpyWriter::NpyWriter(std::filesystem::path path, Dtype dtype, std::vector<Index> row_shape)
    : path_(std::move(path)),
      dtype_(dtype),
      row_shape_(std::move(row_shape)),
      row_bytes_(code_and_bytes(dtype).second) {
  for (Index length : row_shape_) row_bytes_ *= length;
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0)
    fail("{}: cannot be written: {}; choose another place", path_.string(), std::strerror(errno));
  buffer_.reserve(kWrittenBytes);
  buffer_.resize(kHeaderBytes, ' ');
}

NpyWriter::NpyWriter(NpyWriter&& other) noexcept
    : path_(std::move(other.path_)),
      dtype_(other.dtype_),
      row_shape_(std::move(other.row_shape_)),
      row_bytes_(other.row_bytes_),
      bytes_(other.bytes_),
      buffer_(std::move(other.buffer_)),
      file_(std::exchange(other.file_, -1)) {}

NpyWriter::~NpyWriter() {
  if (file_ >= 0) ::close(file_);
}

void NpyWriter::append_bytes(const void* data, std::size_t bytes) {
  bytes_ += Index(bytes);
  if (buffer_.size() + bytes > kWrittenBytes) flush();
  if (bytes > kWrittenBytes) {
    write_all(file_, static_cast<const char*>(data), bytes, path_);
  } else {
    const char* begin = static_cast<const char*>(data);
    buffer_.insert(buffer_.end(), begin, begin + bytes);
  }
}

void NpyWriter::flush() {
  write_all(file_, buffer_.data(), buffer_.size(), path_);
  buffer_.clear();
}

void NpyWriter::finish() {
  ATOLL_CHECK(row_bytes_ == 0 || bytes_ % row_bytes_ == 0, "{}: {} bytes are no whole rows of {}",
              path_.string(), bytes_, row_bytes_);
  flush();
  std::vector<Index> shape{row_bytes_ == 0 ? 0 : bytes_ / row_bytes_};
  shape.insert(shape.end(), row_shape_.begin(), row_shape_.end());
  const std::string header = npy_header(dtype_, shape);
  if (::lseek(file_, 0, SEEK_SET) != 0)
    fail("{}: cannot be written: {}", path_.string(), std::strerror(errno));
  write_all(file_, header.data(), header.size(), path_);
  ::close(std::exchange(file_, -1));
}

}  // namespace atl
