// Deflated data (RFC 1951, without a header: a zip entry's) unpacked piece by piece. zlib is behind inflate.cc alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/types.h"

namespace atl {

/// Hands the unpacked bytes to `take` in order, 256 KiB at a time, with the number of packed bytes read so far.
/// Returns their CRC-32. Throws Error, which begins with `name`, unless they are `bytes` in all.
std::uint32_t inflate_pieces(std::string_view packed, Index bytes, const std::string& name,
                             FunctionRef<void(std::string_view piece, std::size_t read)> take);

/// CRC-32 of what comes after bytes with the checksum `before` (0: none).
std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before = 0);

}  // namespace atl
