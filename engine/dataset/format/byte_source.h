// Bytes of text files, gzipped or not.
#pragma once

#include <filesystem>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/types.h"

namespace atl {

/// The bytes of a text file, inflated if it is gzip; several gzip members in a row are one text. Throws
/// Error, which names the file, if it can't be read, or its first bytes show that it is no text (an archive,
/// UTF-16). For gzip data that is cut off, damaged, or followed by something else, the Error says after how
/// many bytes of text. Memory: 256 KiB.
class ByteSource {
 public:
  explicit ByteSource(const std::filesystem::path& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Reads up to `bytes` into `out`; returns their number, 0 at the end.
  std::size_t read(char* out, std::size_t bytes);
  const std::string& name() const { return name_; }

 private:
  struct Gzip;

  std::size_t read_plain(char* out, std::size_t bytes);
  std::size_t inflate(char* out, std::size_t bytes);
  bool begin_next_member();
  /// False at the end of the file.
  bool fill();

  std::string name_;
  Descriptor file_{-1};
  std::vector<char> buffer_;  // bytes as in the file
  std::size_t begin_ = 0, end_ = 0;
  std::unique_ptr<Gzip> gzip_;  // none: the file isn't compressed
  std::string ahead_;           // first bytes, which were inspected but not returned yet
};

/// A std::istream's buffer over a ByteSource, for parsers that want a stream.
class ByteSourceBuffer : public std::streambuf {
 public:
  explicit ByteSourceBuffer(ByteSource& source) : source_(source), bytes_(1 << 18) {}

 protected:
  int_type underflow() override;

 private:
  ByteSource& source_;
  std::vector<char> bytes_;
};

// Recognises, by its first bytes, the kind of a file that a user gave as text or as an array.

/// This many first bytes are enough to recognise every kind.
inline constexpr std::size_t kKindBytes = 512;

/// Text that follows the file's name in a message, as "is a zip archive, as .npz and .pt are: unpack it
/// first"; empty if the kind isn't known. `begin`: the first kKindBytes, or all there are.
std::string_view known_kind(std::string_view begin);

/// The same for a reader of text, which also refuses bytes of 0.
std::string_view not_text(std::string_view begin);

}  // namespace atl
