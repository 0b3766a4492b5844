#include "dataset/scratch_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/atomic_file.h"
#include "base/error.h"

namespace atl {
namespace {

constexpr Index kBufferBytes = 4 << 20;

}  // namespace

ScratchFile::ScratchFile(const std::filesystem::path& folder) : folder_(folder) {
  std::string name = (folder / ".scratchXXXXXX").string();
  file_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (file_ < 0)
    fail("{}: a temporary file cannot be created there: {}; choose a folder that is writable",
         folder.string(), std::strerror(errno));
  ::unlink(name.c_str());
}

ScratchFile::~ScratchFile() {
  ::close(file_);
}

void ScratchFile::append(const void* data, Index bytes) {
  size_ += bytes;
  if (Index(buffer_.size()) + bytes > kBufferBytes) flush();
  if (bytes > kBufferBytes) {
    write_at(flushed_, data, bytes);
    flushed_ += bytes;
    return;
  }
  const char* begin = static_cast<const char*>(data);
  buffer_.insert(buffer_.end(), begin, begin + bytes);
}

void ScratchFile::flush() {
  write_at(flushed_, buffer_.data(), Index(buffer_.size()));
  flushed_ += Index(buffer_.size());
  buffer_.clear();
}

void ScratchFile::write_at(Index offset, const void* data, Index bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t wrote = ::pwrite(file_, next, std::size_t(bytes), offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      fail("{}: a temporary file cannot be written: {}; {}", folder_.string(), std::strerror(errno),
           write_remedy(errno));
    }
    next += wrote;
    offset += wrote;
    bytes -= wrote;
  }
}

void ScratchFile::read_at(Index offset, void* data, Index bytes) const {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = ::pread(file_, next, std::size_t(bytes), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      fail("{}: a temporary file cannot be read back: {}; check the disk", folder_.string(),
           got < 0 ? std::strerror(errno) : "short");
    }
    next += got;
    offset += got;
    bytes -= got;
  }
}

MappedFile ScratchFile::map() const {
  return {file_, (folder_ / "(a temporary file)").string()};
}

void ScratchFile::clear() {
  if (::ftruncate(file_, 0) != 0)
    fail("{}: a temporary file cannot be truncated; check the disk", folder_.string());
  buffer_ = {};
  size_ = flushed_ = 0;
}

}  // namespace atl
