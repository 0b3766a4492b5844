#include "dataset/format/inflate.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "dataset/format/zip_directory.h"

namespace atl {
namespace {

constexpr std::size_t kPiece = 1 << 18;

struct Stream : z_stream {
  Stream() : z_stream{} { ATOLL_CHECK(inflateInit2(this, -MAX_WBITS) == Z_OK, "zlib does not start"); }
  ~Stream() { inflateEnd(this); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
};

}  // namespace

std::uint32_t inflate_pieces(std::string_view packed, Index bytes, const std::string& name,
                             FunctionRef<void(std::string_view, std::size_t)> take) {
  Stream stream;
  std::vector<char> piece(kPiece);
  std::size_t read = 0;
  Index made = 0;
  std::uint32_t crc = 0;
  int status = Z_OK;
  while (status == Z_OK) {  // zlib counts in 32 bits: feed and drain in pieces
    const std::size_t in = std::min(packed.size() - read, kPiece);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + read));
    stream.avail_in = uInt(in);
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = uInt(kPiece);
    status = inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    const std::string_view out(piece.data(), kPiece - stream.avail_out);
    made += Index(out.size());
    if (made > bytes) break;  // never more than was announced, whatever the data says
    crc = crc32_of(out, crc);
    take(out, read);
  }
  if (status != Z_STREAM_END || made != bytes) fail_damaged_zip(name, "its compressed data is broken");
  return crc;
}

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t before) {
  return std::uint32_t(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace atl
