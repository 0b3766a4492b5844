#include "dataset/format/mapped_file.h"

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

}  // namespace atl
