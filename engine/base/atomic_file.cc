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

fs::path aside_of(const fs::path& place) {
  return place.parent_path() / ("." + place.filename().string() + ".replaced");
}

void create_parents(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) fail_to_write(path.parent_path(), error.value());
}

/// True where we hold the lock of `file` and `path` still names it. Between open and lock another writer may
/// have renamed it into place, and then we must not change its contents.
bool lock_if_current(int file, const fs::path& path, const fs::path& place) {
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    ::close(file);
    if (error != EWOULDBLOCK) {
      std::error_code ignored;
      if (fs::is_empty(path, ignored)) fs::remove(path, ignored);  // what we have just made
      fail("{}: cannot be locked: {}; choose a place on another file system", place.string(),
           std::strerror(error));
    }
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

/// Whether another process writes the folder `place`: it then holds the lock of the partial folder.
bool is_being_written(const fs::path& place) {
  const int file = ::open(partial_of(place).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return false;
  const bool locked = ::flock(file, LOCK_EX | LOCK_NB) != 0;
  ::close(file);
  return locked;
}

void put_back(const fs::path& place) {
  const fs::path aside = aside_of(place);
  std::error_code error;
  if (fs::exists(place) || !fs::exists(aside)) return;
  fs::rename(aside, place, error);
  if (error && !fs::exists(place))
    fail("{}: was being replaced when its process was killed, and can't be put back: {} (rename {} to it)",
         place.string(), error.message(), aside.string());
}

/// Whether `place` is a mount point. A folder beside it would be on another file system, and couldn't be
/// renamed to it when all is written.
bool is_mount_point(const fs::path& place) {
  struct statx found {};
  if (::statx(AT_FDCWD, place.c_str(), 0, STATX_BASIC_STATS, &found) != 0) return false;
  return (found.stx_attributes & found.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0;
}

fs::path stopped_of(const fs::path& folder) {
  return folder.string() + ".stopped";
}

/// Removes a folder that other threads still write to. It is renamed first, so that they no longer find it
/// and it stays empty once emptied.
void remove_from_writers(const fs::path& folder) {
  const fs::path elsewhere = stopped_of(folder);
  std::error_code ignored;
  fs::remove_all(elsewhere, ignored);
  const bool is_moved = ::rename(folder.c_str(), elsewhere.c_str()) == 0;
  for (int tries = 0; tries < 3; ++tries)  // a file that was being opened may appear after the listing
    if (fs::remove_all(is_moved ? elsewhere : folder, ignored) == 0) break;
}

bool is_refused(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP;
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

bool may_become_a_file(const fs::path& path) {
  std::error_code unseen;
  if (!fs::exists(path, unseen)) return true;
  // /dev/stdout and /dev/fd/1, however they are called, may lead to a file.
  const fs::path folder = fs::canonical(fs::absolute(path).parent_path(), unseen);
  const bool of_the_system = folder == "/dev" || folder.string().starts_with("/proc/");
  return fs::is_regular_file(path, unseen) && !of_the_system;
}

AtomicFile::AtomicFile(fs::path path)
    : path_(absolute_without_slash(std::move(path))), partial_(partial_of(path_)) {
  if (fs::is_directory(path_)) fail("{}: is a folder; give a file to write", path_.string());
  if (!may_become_a_file(path_))
    fail("{}: is a device or a pipe, and a file would take its place; give a file to write", path_.string());
  const StopsTaken before_it_is_known;  // else a stop would leave the file behind
  create_parents(path_);
  do {
    file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file_ < 0) fail_to_write(path_, errno);
  } while (!lock_if_current(file_, partial_, path_));
  at_stop_.emplace([this] { ::unlink(partial_.c_str()); });
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
  const StopsTaken until_it_is_whole;
  rename_into_place(partial_, path_);
  at_stop_.reset();
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
  exists_whole(place_);
  if (is_mount_point(place_))
    fail("{}: is a mount point, and no folder can take its place; choose a folder in it", place_.string());
  if (existing_ == Existing::kRefuse && fs::exists(place_) &&
      !(fs::is_directory(place_) && fs::is_empty(place_))) {
    fail("{}: exists already; add --replace, or choose another place", place_.string());
  }
  std::optional<StopsTaken> before_it_is_known(std::in_place);  // else a stop would leave the folder behind
  do {
    if (::mkdir(partial_.c_str(), 0755) != 0 && errno != EEXIST) fail_to_write(place_, errno);
    lock_ = ::open(partial_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ < 0 && errno != ENOENT) fail_to_write(place_, errno);
  } while (lock_ < 0 || !lock_if_current(lock_, partial_, place_));
  at_stop_.emplace([this] { remove_from_writers(partial_); });
  before_it_is_known.reset();
  for (const auto& left_over : fs::directory_iterator(partial_)) fs::remove_all(left_over);
  fs::remove_all(stopped_of(partial_));
  if (fs::exists(place_)) fs::remove_all(aside_of(place_));
}

AtomicFolder::~AtomicFolder() {
  if (lock_ < 0) return;
  std::error_code ignored;
  fs::remove_all(partial_, ignored);
  ::close(lock_);
}

void AtomicFolder::commit(NameSwap swap) {
  ATOLL_CHECK(lock_ >= 0, "{} committed twice", place_.string());
  for (const auto& entry : fs::recursive_directory_iterator(partial_)) flush(entry.path());
  flush(partial_);
  const StopsTaken until_one_is_whole;
  if (existing_ == Existing::kReplace && fs::exists(place_)) {
    replace_existing(swap);
  } else {
    rename_into_place(partial_, place_);
  }
  at_stop_.reset();
  ::close(lock_);
  lock_ = -1;
}

/// Removes the old folder last.
void AtomicFolder::replace_existing(NameSwap swap) {
  fs::path old = partial_;
  // The swap gives the old folder the name in which the next writer begins. The lock keeps writers out until
  // the folder is gone.
  const Descriptor until_removed(::open(place_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (until_removed.get() >= 0) ::flock(until_removed.get(), LOCK_EX | LOCK_NB);
  if (swap(partial_.c_str(), place_.c_str()) != 0) {
    if (!is_refused(errno)) fail_to_write(place_, errno);
    old = aside_of(place_);
    if (::rename(place_.c_str(), old.c_str()) != 0) fail_to_write(place_, errno);
    if (::rename(partial_.c_str(), place_.c_str()) != 0) {
      const int error = errno;
      put_back(place_);
      fail_to_write(place_, error);
    }
  }
  flush(place_.parent_path());
  std::error_code ignored;
  fs::remove_all(old, ignored);
}

int swap_names(const char* one, const char* other) {
  return ::renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE);
}

bool exists_whole(const fs::path& given) {
  const fs::path place = absolute_without_slash(given);
  if (!fs::exists(place) && fs::exists(aside_of(place)) && !is_being_written(place)) put_back(place);
  return fs::exists(place);
}

bool still_named(int descriptor, const std::filesystem::path& path) {
  struct stat open {
  }, named{};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

}  // namespace atl
