// NumPy's .npz archives (zip, stored or deflated, zip64 included) and the SciPy CSR matrices kept in them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "dataset/format/npy.h"

namespace atl {

// The directory of a zip archive (PKWARE's APPNOTE 4.3; zip64 included): the place and compression of each
// entry.

struct ZipEntry {
  int method = 0;  // 0 stored, 8 deflated
  Index packed_bytes = 0, bytes = 0, header_offset = 0;
  std::uint32_t crc = 0;
};

/// Returns the archive's entries by file name. A damaged directory is an Error that begins with `name`.
std::map<std::string, ZipEntry> read_zip_directory(std::string_view bytes, const std::string& name);

/// Returns an entry's packed bytes, a view into the archive. Throws Error if some are missing.
std::string_view packed_bytes(std::string_view archive, const ZipEntry& entry, const std::string& name);

/// Throws the Error for a damaged archive.
[[noreturn]] void fail_damaged_zip(const std::string& name, const std::string& what);

/// An open archive. Arrays read from it stay valid after it is gone.
class NpzFile {
 public:
  /// Compressed arrays above 1 MiB are unpacked to nameless temporary files in the folder `scratch` and
  /// mapped, so that none is held in memory. Without a folder they are unpacked in memory.
  static NpzFile open(const std::filesystem::path& path, std::filesystem::path scratch = {});
  /// Opens `bytes`, a whole archive that `owner` keeps alive and errors call `name`.
  static NpzFile over(std::string_view bytes, std::string name, std::shared_ptr<const void> owner);

  const std::string& name() const { return name_; }
  bool contains(const std::string& array) const { return entries_.contains(array); }
  /// Names without ".npy", sorted.
  std::vector<std::string> names() const;
  /// Throws Error for an unknown name, a damaged entry or an unknown compression. Checks contents by CRC-32.
  NpyArray read(const std::string& array) const;
  /// Reads the array that has one of these names, which tools give to the same thing. Throws Error if there
  /// is none, or if there are several, because each could be meant.
  NpyArray read_one_of(std::span<const char* const> names) const;

 private:
  struct Packed {
    const ZipEntry& entry;
    std::string_view bytes;
    std::string label;  // what errors call it
  };
  NpyArray stored(const Packed& packed) const;
  NpyArray unpacked_in_memory(const Packed& packed) const;
  NpyArray unpacked_on_disk(const Packed& packed) const;
  void check_crc(const Packed& packed, std::uint32_t crc) const;

  std::string name_;
  std::string_view bytes_;
  std::shared_ptr<const void> owner_;
  std::shared_ptr<const MappedFile> file_;  // after open() only
  std::filesystem::path scratch_;
  std::map<std::string, ZipEntry> entries_;
};

/// A sparse matrix as scipy.sparse.save_npz writes it, format csr.
struct NpzCsr {
  Index rows = 0, cols = 0;
  NpyArray offsets;  // integers (rows + 1)
  NpyArray columns;  // integers (nnz)
  NpyArray values;   // any number (nnz)
};

/// Throws Error unless lengths are right, offsets ascend within nnz, and columns are in range. `scratch` as
/// in NpzFile::open().
NpzCsr read_csr_npz(const std::filesystem::path& path, const std::filesystem::path& scratch);
void check_csr(const NpzCsr& matrix, const std::string& name);

// Writes .npz archives: zip without compression, zip64 throughout, so that an array may be of any size.

/// Add arrays one after the other, then finish(). Throws Error naming the file when the disk is full.
class NpzWriter {
 public:
  explicit NpzWriter(std::filesystem::path path);

  /// Adds a whole array; `elements` are of `dtype`, row-major, as many as `shape` says.
  template <class T>
  void add(const std::string& array, Dtype dtype, std::span<const Index> shape, std::span<const T> elements) {
    add_bytes(array, dtype, shape, {reinterpret_cast<const char*>(elements.data()), elements.size_bytes()});
  }
  void finish();

 private:
  struct Entry {
    std::string file;
    std::uint32_t crc = 0;
    std::uint64_t bytes = 0, offset = 0;
  };
  void add_bytes(const std::string& array, Dtype dtype, std::span<const Index> shape, std::string_view data);
  void write(std::string_view bytes);
  void expect_written() const;

  std::filesystem::path path_;
  std::ofstream file_;
  std::uint64_t at_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace atl
