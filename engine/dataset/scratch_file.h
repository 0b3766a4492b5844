// A temporary file without a name: gone when closed or when the process dies.
#pragma once

#include <filesystem>
#include <vector>

#include "base/types.h"
#include "dataset/format/mapped_file.h"

namespace atl {

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
  /// What was appended, read-only, as memory; stays valid without the object. Call after flush().
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

}  // namespace atl
