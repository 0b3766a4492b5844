// Files and folders that appear whole or not at all. They are written beside their place under
// ".<name>.partial", flushed to the disk and renamed into place. A reader never sees half of one, and an
// exception or a request to stop leaves nothing behind. What a killed process left is removed by the next one
// that writes the same name.
#pragma once

#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/stop.h"

namespace atl {

/// What a user can do about this errno of a write.
const char* write_remedy(int error);

/// Whether a file may be renamed to `path`: it is absent, or a file itself. Anything else there, such as
/// /dev/null, a pipe or a name of standard output, would be gone for everybody who uses it.
bool may_become_a_file(const std::filesystem::path& path);

/// One file. Only one process writes a name at a time: a second one gets an Error. Every Error names the file
/// and what to do (disk full, path not writable).
class AtomicFile {
 public:
  /// Creates missing parent folders.
  explicit AtomicFile(std::filesystem::path path);
  /// Removes the temporary file unless commit() returned.
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Writes at an offset, for files that aren't filled from front to back. write() then goes on where it was.
  void write_at(std::int64_t offset, const void* data, std::size_t bytes);
  /// Flushes and renames over `path`, replacing what was there. Call once, last.
  void commit();

 private:
  std::filesystem::path path_, partial_;
  int file_ = -1;
  std::optional<AtStop> at_stop_;  // until commit()
};

/// Writes the whole of a small file.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Exchanges what two names stand for, in one step. Returns 0, or −1 with errno.
using NameSwap = int (*)(const char* one, const char* other);
/// The kernel's swap (renameat2).
int swap_names(const char* one, const char* other);

/// Whether `place`, a folder that AtomicFolder writes, exists. First puts the old folder back if a process
/// was killed while it replaced the folder by two renames.
bool exists_whole(const std::filesystem::path& place);

/// One folder: fill path(), then commit().
class AtomicFolder {
 public:
  enum class Existing { kRefuse, kReplace };

  /// Unless Existing::kReplace, `place` must be absent or an empty folder. It must not be a mount point.
  /// Creates missing parent folders.
  explicit AtomicFolder(std::filesystem::path place, Existing existing = Existing::kRefuse);
  /// Removes the temporary folder unless commit() returned.
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  /// Where to write until commit().
  const std::filesystem::path& path() const { return partial_; }
  /// Flushes every file and renames the folder into place, replacing what was there. Call once, last. The
  /// replacement is one step where the file system can swap names. NFS, FUSE, 9p and gVisor can't: there the
  /// old folder is moved aside, to ".<name>.replaced", and then the new one into place. A process that is
  /// killed between the two moves leaves the place empty, and both folders whole beside it. exists_whole(),
  /// or the next writer of the name, then puts the old one back.
  void commit(NameSwap swap = swap_names);

 private:
  void replace_existing(NameSwap swap);

  std::filesystem::path place_, partial_;
  Existing existing_;
  int lock_ = -1;
  std::optional<AtStop> at_stop_;  // until commit()
};

// Whether an open file still is what its path names. Other processes may replace, move or remove a file that
// is held open.

bool still_named(int descriptor, const std::filesystem::path& path);

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }

 private:
  int number_;
};

}  // namespace atl
