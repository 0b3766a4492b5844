// NumPy's .npz archives (zip, stored or deflated, zip64 included) and the SciPy CSR matrices kept in them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/npy.h"

namespace atl {

/// An opened archive. Arrays read from it stay valid after it is gone.
class NpzFile {
 public:
  static NpzFile open(const std::filesystem::path& path);
  /// `bytes`, a whole archive kept alive by `owner`, called `name` in errors.
  static NpzFile over(std::string_view bytes, std::string name, std::shared_ptr<const void> owner);

  const std::string& name() const { return name_; }
  bool contains(const std::string& array) const { return entries_.contains(array); }
  /// Names without ".npy", sorted.
  std::vector<std::string> names() const;
  /// Bytes that read() will hold in memory: 0 for a stored entry, which stays mapped.
  Index memory_bytes(const std::string& array) const;
  /// An unknown name, a damaged entry or an unknown compression is an Error; contents are checked by CRC-32.
  NpyArray read(const std::string& array) const;

 private:
  struct Entry {
    int method = 0;  // 0 stored, 8 deflated
    Index packed_bytes = 0, bytes = 0, header_offset = 0;
    std::uint32_t crc = 0;
  };
  void read_directory();
  Entry parse_entry(std::string_view record, std::string_view extra) const;
  std::string_view packed(const Entry& entry, const std::string& array) const;

  std::string name_;
  std::string_view bytes_;
  std::shared_ptr<const void> owner_;
  std::map<std::string, Entry> entries_;
};

/// A sparse matrix as scipy.sparse.save_npz writes it, format csr.
struct NpzCsr {
  Index rows = 0, cols = 0;
  NpyArray offsets;  // integers (rows + 1)
  NpyArray columns;  // integers (nnz)
  NpyArray values;   // any number (nnz)
};

/// Checks lengths, that offsets never decrease and stay within nnz, and that columns are in range.
NpzCsr read_csr_npz(const std::filesystem::path& path);
void check_csr(const NpzCsr& matrix, const std::string& name);

}  // namespace atl
