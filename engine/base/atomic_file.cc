#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/still_named.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  fail("{}: cannot be written: {} ({})", path.string(), std::strerror(error), write_remedy(error));
}

fs::path absolute_without_slash(fs::path path) {
  path = fs::absolute(path).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

fs::path partial_of(const fs::path& path) {
  return path.parent_path() / ("." + path.filename().string() + ".partial");
}

void create_parents(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) fail_to_write(path.parent_path(), error.value());
}

/// True where `file` is locked by us and still is what `path` names: between open and lock another writer may
/// have renamed it into place, and then its contents are no longer ours to change.
bool lock_if_current(int file, const fs::path& path, const fs::path& place) {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    ::close(file);
    fail("{}: another process is writing it; wait for that process, or choose another place", place.string());
  }
  if (still_named(file, path)) return true;
  ::close(file);
  return false;
}

void flush(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool flushed = file >= 0 && ::fsync(file) == 0;
  const int error = errno;
  if (file >= 0) ::close(file);
  if (!flushed && error != EINVAL)
    fail_to_write(path, error);  // EINVAL: this file system has nothing to flush
}

void rename_into_place(const fs::path& partial, const fs::path& place) {
  if (::rename(partial.c_str(), place.c_str()) != 0) fail_to_write(place, errno);
  flush(place.parent_path());
}

}  // namespace

const char* write_remedy(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free space there or choose another place";
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f)";
    case EACCES:
    case EPERM:
      return "choose a folder that you may write to";
    case EROFS:
      return "choose a folder that is not read-only";
    case ENOTDIR:
    case EEXIST:
      return "a part of the path is a file: choose another folder";
    default:
      return "check the disk";
  }
}

AtomicFile::AtomicFile(fs::path path)
    : path_(absolute_without_slash(std::move(path))), partial_(partial_of(path_)) {
  if (fs::is_directory(path_)) fail("{}: is a folder; give a file to write", path_.string());
  create_parents(path_);
  do {
    file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) fail_to_write(path_, errno);
  } while (!lock_if_current(file_, partial_, path_));
  if (::ftruncate(file_, 0) != 0) fail_to_write(path_, errno);
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  ::unlink(partial_.c_str());
  ::close(file_);
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t wrote = ::write(file_, next, bytes);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail_to_write(path_, errno);
    next += wrote;
    bytes -= std::size_t(wrote);
  }
}

void AtomicFile::write_at(std::int64_t offset, const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t wrote = ::pwrite(file_, next, bytes, offset);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail_to_write(path_, errno);
    next += wrote;
    offset += wrote;
    bytes -= std::size_t(wrote);
  }
}

void AtomicFile::commit() {
  ATOLL_CHECK(file_ >= 0, "{} committed twice", path_.string());
  if (::fsync(file_) != 0 && errno != EINVAL) fail_to_write(path_, errno);
  rename_into_place(partial_, path_);
  ::close(file_);
  file_ = -1;
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

AtomicFolder::AtomicFolder(fs::path place, Existing existing)
    : place_(absolute_without_slash(std::move(place))), partial_(partial_of(place_)), existing_(existing) {
  create_parents(place_);
  if (existing_ == Existing::kRefuse && fs::exists(place_) &&
      !(fs::is_directory(place_) && fs::is_empty(place_))) {
    fail("{}: exists already; add --replace, or choose another place", place_.string());
  }
  do {
    if (::mkdir(partial_.c_str(), 0755) != 0 && errno != EEXIST) fail_to_write(place_, errno);
    lock_ = ::open(partial_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ < 0 && errno != ENOENT) fail_to_write(place_, errno);
  } while (lock_ < 0 || !lock_if_current(lock_, partial_, place_));
  for (const auto& left_over : fs::directory_iterator(partial_)) fs::remove_all(left_over);
}

AtomicFolder::~AtomicFolder() {
  if (lock_ < 0) return;
  std::error_code ignored;
  fs::remove_all(partial_, ignored);
  ::close(lock_);
}

void AtomicFolder::commit() {
  ATOLL_CHECK(lock_ >= 0, "{} committed twice", place_.string());
  for (const auto& entry : fs::recursive_directory_iterator(partial_)) flush(entry.path());
  flush(partial_);
  if (existing_ == Existing::kReplace && fs::exists(place_)) {
    replace_existing();
  } else {
    rename_into_place(partial_, place_);
  }
  ::close(lock_);
  lock_ = -1;
}

/// Swaps the two folders in one step, so that the place is never empty, then removes the old one.
void AtomicFolder::replace_existing() {
  if (::renameat2(AT_FDCWD, partial_.c_str(), AT_FDCWD, place_.c_str(), RENAME_EXCHANGE) != 0) {
    fail_to_write(place_, errno);
  }
  flush(place_.parent_path());
  std::error_code ignored;
  fs::remove_all(partial_, ignored);
}

}  // namespace atl
