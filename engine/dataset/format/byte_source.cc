#include "dataset/format/byte_source.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReadBytes = 1 << 18;
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

ByteSource::ByteSource(const fs::path& path) : name_(path.string()), buffer_(kReadBytes) {
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

namespace {

using namespace std::string_view_literals;

struct FileKind {
  std::size_t at;  // place of its mark
  std::string_view mark, says;
};

constexpr std::string_view kXml =
    "is XML (GraphML and GEXF are), which isn't read: write an edge list, two ids per line";
constexpr std::string_view kWebPage = "is a web page, not data: download the file itself";
constexpr std::string_view kUtf16 = "is text in UTF-16: save it as UTF-8";

constexpr std::string_view kOffice =
    "is a file of Excel, or of another office program: save the sheet as CSV, ids separated by commas";

constexpr FileKind kKinds[] = {
    {30, "[Content_Types].xml"sv, kOffice},  // the first file's name, as Excel writes it
    {30, "docProps/"sv, kOffice},            // as openpyxl writes it
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
    {0, "<!doctype html"sv, kWebPage},
    {0, "<html"sv, kWebPage},
};

/// Ignores the case of letters, because HTML may have any.
bool stands_at(const FileKind& kind, std::string_view begin) {
  if (begin.size() < kind.at + kind.mark.size()) return false;
  return std::ranges::equal(begin.substr(kind.at, kind.mark.size()), kind.mark, [](char a, char b) {
    return a == b || std::tolower(static_cast<unsigned char>(a)) == static_cast<unsigned char>(b);
  });
}

}  // namespace

std::string_view known_kind(std::string_view begin) {
  const auto found =
      std::ranges::find_if(kKinds, [&](const FileKind& kind) { return stands_at(kind, begin); });
  return found == std::end(kKinds) ? std::string_view() : found->says;
}

std::string_view not_text(std::string_view begin) {
  const std::string_view known = known_kind(begin);
  if (!known.empty() || begin.find('\0') == std::string_view::npos) return known;
  return "holds bytes of 0, which no text does: give a text file, or one that is gzipped";
}

}  // namespace atl
