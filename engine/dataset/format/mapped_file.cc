#include "dataset/format/mapped_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/atomic_file.h"
#include "base/error.h"

namespace atl {
namespace {

constexpr std::size_t kPage = 4096;

/// Closes its file, whatever happens.
struct OpenFile {
  int number;
  ~OpenFile() { ::close(number); }
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail("{}: cannot be read: {}; check the path", path.string(), std::strerror(errno));
  const OpenFile open{file};
  map(file, path.string());
}

MappedFile::MappedFile(int file, const std::string& name) {
  map(file, name);
}

void MappedFile::map(int file, const std::string& name) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    fail("{}: is not a regular file; give a file that can be memory-mapped", name);
  }
  size_ = std::size_t(status.st_size);
  void* data = size_ == 0 ? nullptr : ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) fail("{}: cannot be memory-mapped: {}", name, std::strerror(errno));
  data_ = static_cast<const char*>(data);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<char*>(data_), size_);
}

void MappedFile::forget(std::string_view part) const {
  if (part.empty()) return;
  std::size_t begin = std::size_t(part.data() - data_), end = begin + part.size();
  begin = begin / kPage * kPage;
  end = end == size_ ? size_ : end / kPage * kPage;  // the last page may be needed by the next piece
  if (begin < end) ::madvise(const_cast<char*>(data_) + begin, end - begin, MADV_DONTNEED);
}

namespace {

constexpr Index kCopiedBytes = 4 << 20;

/// Makes a file without a name. Some file systems (NFS) can't; there it makes a file and removes its name at
/// once.
int open_scratch(const std::filesystem::path& folder) {
  const int nameless = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (nameless >= 0) return nameless;
  std::string name = (folder / ".scratchXXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0)
    fail("{}: a temporary file cannot be created there: {}; choose a folder that is writable",
         folder.string(), std::strerror(errno));
  ::unlink(name.c_str());
  return file;
}

}  // namespace

ScratchFile::ScratchFile(const std::filesystem::path& folder)
    : folder_(folder), file_(open_scratch(folder)) {}

ScratchFile::~ScratchFile() {
  ::close(file_);
}

void ScratchFile::append(const void* data, Index bytes) {
  size_ += bytes;
  if (Index(buffer_.size()) + bytes > kCopiedBytes) flush();
  if (bytes > kCopiedBytes) {
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

/// Without the reservation, a full disk would end the process when a page is written.
ScratchMemory::ScratchMemory(const std::filesystem::path& folder, Index bytes) : bytes_(bytes) {
  const OpenFile open{open_scratch(folder)};
  if (bytes == 0) return;
  if (const int error = ::posix_fallocate(open.number, 0, bytes); error != 0)
    fail("{}: a temporary file of {} bytes cannot be made there: {}; {}", folder.string(), bytes,
         std::strerror(error), write_remedy(error));
  void* const data = ::mmap(nullptr, std::size_t(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, open.number, 0);
  if (data == MAP_FAILED)
    fail("{}: a temporary file cannot be memory-mapped: {}", folder.string(), std::strerror(errno));
  data_ = static_cast<std::byte*>(data);
}

ScratchMemory::~ScratchMemory() {
  if (data_ != nullptr) ::munmap(data_, std::size_t(bytes_));
}

}  // namespace atl
