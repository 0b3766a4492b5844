#include "dataset/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace atl {
namespace {

constexpr std::size_t kPage = 4096;

/// Size of the open file; closes it before throwing.
std::size_t regular_size(int file, const std::filesystem::path& path) {
  struct stat status {};
  const bool known = ::fstat(file, &status) == 0;
  if (known && S_ISREG(status.st_mode)) return std::size_t(status.st_size);
  ::close(file);
  fail("{}: is not a regular file; give a file that can be memory-mapped", path.string());
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail("{}: cannot be read: {}; check the path", path.string(), std::strerror(errno));
  size_ = regular_size(file, path);
  void* data = size_ == 0 ? nullptr : ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file, 0);
  const int error = errno;
  ::close(file);
  if (data == MAP_FAILED) fail("{}: cannot be memory-mapped: {}", path.string(), std::strerror(error));
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

void MappedFile::forget(std::size_t begin, std::size_t end) const {
  begin = begin / kPage * kPage;
  end = end == size_ ? size_ : end / kPage * kPage;  // the last page may be needed by the next piece
  if (data_ && begin < end) ::madvise(const_cast<char*>(data_) + begin, end - begin, MADV_DONTNEED);
}

}  // namespace atl
