#include "dataset/format/byte_source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "dataset/format/file_kind.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBufferBytes = 1 << 18;
constexpr std::string_view kGzipBegin = "\x1f\x8b";
constexpr int kGzipHeader = 16;  // tells zlib that the data has a gzip header and checksum

}  // namespace

/// Replaces zlib's own reader of files, which silently stops at whatever follows the data.
struct ByteSource::Gzip {
  Gzip() { ATOLL_CHECK(inflateInit2(&stream, MAX_WBITS + kGzipHeader) == Z_OK, "zlib does not start"); }
  ~Gzip() { inflateEnd(&stream); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  z_stream stream{};
  bool is_between_members = false;
  Index text_bytes = 0;  // bytes inflated so far
};

ByteSource::ByteSource(const fs::path& path) : name_(path.string()), buffer_(kBufferBytes) {
  if (!fs::exists(path)) fail("{}: does not exist; check the path", name_);
  if (fs::is_directory(path)) fail("{}: is a folder; give a file", name_);
  file_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file_.get() < 0) fail("{}: cannot be read: {}", name_, std::strerror(errno));
  fill();
  const std::string_view begin(buffer_.data(), end_);
  if (begin.starts_with(kGzipBegin))
    gzip_ = std::make_unique<Gzip>();
  else if (path.extension() == ".gz" && !begin.empty())
    fail("{}: is named .gz but is not gzip; rename it, or copy or download it again", name_);
  ahead_.resize(kKindBytes);
  ahead_.resize(gzip_ ? inflate(ahead_.data(), ahead_.size()) : read_plain(ahead_.data(), ahead_.size()));
  if (const std::string_view other = not_text(ahead_); !other.empty()) fail("{}: {}", name_, other);
}

ByteSource::~ByteSource() = default;

bool ByteSource::fill() {
  begin_ = 0, end_ = 0;
  while (end_ < buffer_.size()) {  // a pipe may return less than was asked for
    const ssize_t got = ::read(file_.get(), buffer_.data() + end_, buffer_.size() - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot be read: {}", name_, std::strerror(errno));
    if (got == 0) break;
    end_ += std::size_t(got);
  }
  return end_ > 0;
}

std::size_t ByteSource::read(char* out, std::size_t bytes) {
  if (ahead_.empty()) return gzip_ ? inflate(out, bytes) : read_plain(out, bytes);
  const std::size_t taken = ahead_.copy(out, bytes);
  ahead_.erase(0, taken);
  return taken;
}

std::size_t ByteSource::read_plain(char* out, std::size_t bytes) {
  if (begin_ == end_ && !fill()) return 0;
  const std::size_t taken = std::min(bytes, end_ - begin_);
  std::copy_n(buffer_.data() + begin_, taken, out);
  begin_ += taken;
  return taken;
}

/// Skips the zeros that tapes and some writers put after the data. False at the end of the file.
bool ByteSource::begin_next_member() {
  do {
    while (begin_ < end_ && buffer_[begin_] == '\0') ++begin_;
  } while (begin_ == end_ && fill());
  if (begin_ == end_) return false;
  if (buffer_[begin_] != kGzipBegin[0])
    fail("{}: has bytes behind its gzip data, which ends after {} bytes of text; copy or download it again",
         name_, gzip_->text_bytes);
  ATOLL_CHECK(inflateReset(&gzip_->stream) == Z_OK, "zlib does not start again");
  gzip_->is_between_members = false;
  return true;
}

std::size_t ByteSource::inflate(char* out, std::size_t bytes) {
  z_stream& stream = gzip_->stream;
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = uInt(bytes);
  while (stream.avail_out == bytes) {
    if (gzip_->is_between_members && !begin_next_member()) return 0;
    stream.next_in = reinterpret_cast<Bytef*>(buffer_.data() + begin_);
    stream.avail_in = uInt(end_ - begin_);
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    begin_ = end_ - stream.avail_in;
    if (status == Z_BUF_ERROR) {  // zlib has no output left and needs input
      if (fill()) continue;
      fail("{}: its gzip data is cut off after {} bytes of text; copy or download it again", name_,
           gzip_->text_bytes);
    }
    if (status != Z_OK && status != Z_STREAM_END)
      fail("{}: its gzip data is damaged ({}) after {} bytes of text; copy or download it again", name_,
           stream.msg ? stream.msg : zError(status), gzip_->text_bytes);
    gzip_->is_between_members = status == Z_STREAM_END;
  }
  const std::size_t got = bytes - stream.avail_out;
  gzip_->text_bytes += Index(got);
  return got;
}

ByteSourceBuffer::int_type ByteSourceBuffer::underflow() {
  const std::size_t got = source_.read(bytes_.data(), bytes_.size());
  setg(bytes_.data(), bytes_.data(), bytes_.data() + got);
  return got == 0 ? traits_type::eof() : traits_type::to_int_type(bytes_[0]);
}

}  // namespace atl
