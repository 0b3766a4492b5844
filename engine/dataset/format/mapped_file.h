// A file's bytes as read-only memory. Pages are loaded when touched and may be dropped again.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace atl {

/// Movable. The mapping exists as long as the object.
class MappedFile {
 public:
  /// Throws Error naming the path if it is missing, unreadable or not a regular file.
  explicit MappedFile(const std::filesystem::path& path);
  /// Maps an open file, which the caller may close afterwards; errors call it `name`.
  MappedFile(int file, const std::string& name);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }

  /// Lets the system take back the memory of `part` of bytes(), so that a pass over a large file needs
  /// bounded memory. The bytes stay readable, but are read from the file again.
  void forget(std::string_view part) const;

 private:
  void map(int file, const std::string& name);

  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

// A temporary file without a name, which is gone when it is closed or the process dies.

/// Not thread-safe, but read_at() may run from several threads once everything is written.
class ScratchFile {
 public:
  explicit ScratchFile(const std::filesystem::path& folder);
  ~ScratchFile();
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  /// Adds at the end, buffered; flush() before reading.
  void append(const void* data, Index bytes);
  void flush();
  void write_at(Index offset, const void* data, Index bytes);
  void read_at(Index offset, void* data, Index bytes) const;
  /// Maps the appended bytes read-only; the mapping stays valid without the object. Call after flush().
  MappedFile map() const;
  /// Bytes appended.
  Index size() const { return size_; }
  /// Gives the disk space back.
  void clear();

 private:
  std::filesystem::path folder_;
  std::vector<char> buffer_;
  Index size_ = 0, flushed_ = 0;
  int file_ = -1;
};

// Memory that lies in a temporary file without a name. The system writes its pages to the disk and takes
// their memory back when others need it, so it may be larger than the machine's memory.

/// Neither copyable nor movable.
class ScratchMemory {
 public:
  /// Reserves the space on the disk at once. Throws Error naming the folder if there is too little, or if no
  /// file can be made.
  ScratchMemory(const std::filesystem::path& folder, Index bytes);
  ~ScratchMemory();
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

  /// Zeros at first; begins at a page. Null if there are no bytes.
  std::byte* data() const { return data_; }
  Index bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  Index bytes_ = 0;
};

}  // namespace atl
