// Text files line by line, and numbers within a line.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "dataset/format/byte_source.h"

namespace atl {

/// Lines without their end ("\n" or "\r\n").
class LineReader {
 public:
  explicit LineReader(const std::filesystem::path& path);

  /// False at the end. `line` is valid until the next call. Throws Error where a line is longer than 64 MiB,
  /// because it is held whole.
  bool next(std::string_view& line);
  /// Number, from 1, of the line that next() returned last.
  Index line() const { return line_; }
  const std::string& name() const { return source_.name(); }
  /// Returns "edges.txt.gz:17".
  std::string where() const;

 private:
  bool fill();

  ByteSource source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  Index line_ = 0;
};

/// The fields of one line, separated by spaces and tabs, or by single `separator`s if given.
class Fields {
 public:
  explicit Fields(std::string_view line, char separator = ' ');
  /// False when no field is left.
  bool next(std::string_view& field);
  bool at_end() const { return done_; }

 private:
  std::string_view rest_;
  char separator_;
  bool done_;
};

/// Reads the whole field as a number. Throws Error, which begins with `where`, if it is anything else or
/// beyond double's range; a real number too small for double is 0.
Index parse_integer(std::string_view field, const LineReader& where);
double parse_real(std::string_view field, const LineReader& where);
/// The number as data sets store it. A finite number beyond float32 is an Error that begins with `where`.
float as_float32(double value, const std::string& where);

/// Throws Error if both files are there: a source should have one of them, and each could be meant.
void expect_not_both(const std::filesystem::path& one, const std::filesystem::path& other);

/// Returns `path`, or `path` with ".gz" added, whichever is there; empty if neither is. Throws Error for
/// both.
std::filesystem::path find_text_file(const std::filesystem::path& path);

}  // namespace atl
