// The directory of a zip archive (PKWARE's APPNOTE 4.3; zip64 included): where each entry lies and how it is packed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/types.h"

namespace atl {

struct ZipEntry {
  int method = 0;  // 0 stored, 8 deflated
  Index packed_bytes = 0, bytes = 0, header_offset = 0;
  std::uint32_t crc = 0;
};

/// The entries of the archive `bytes` by file name. A damaged directory is an Error that begins with `name`.
std::map<std::string, ZipEntry> read_zip_directory(std::string_view bytes, const std::string& name);

/// An entry's bytes as they are packed, within the archive. An Error where they are not whole.
std::string_view packed_bytes(std::string_view archive, const ZipEntry& entry, const std::string& name);

/// Throws the Error of an archive that is damaged.
[[noreturn]] void fail_damaged_zip(const std::string& name, const std::string& what);

}  // namespace atl
