#include "dataset/format/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLinesBytes = 1 << 18;
constexpr std::size_t kLongestLine = 64 << 20;

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Returns what to do about a field that is no number. It takes a word in the first line for a column's
/// header.
const char* remedy(std::string_view field, const LineReader& where) {
  const bool word = !field.empty() && (std::isalpha(static_cast<unsigned char>(field[0])) || field[0] == '"');
  return word && where.line() == 1 ? "if the line is a header, remove it" : "correct the line";
}

}  // namespace

LineReader::LineReader(const fs::path& path) : source_(path), buffer_(kLinesBytes) {}

std::string LineReader::where() const {
  return fmt::format("{}:{}", name(), line_);
}

/// Moves the unread bytes to the front and reads more behind them. False at the end of the file.
bool LineReader::fill() {
  std::copy(buffer_.begin() + std::ptrdiff_t(begin_), buffer_.begin() + std::ptrdiff_t(end_),
            buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    if (end_ >= kLongestLine)
      fail(
          "{}:{}: the line is longer than 64 MiB, the most that is read as one: if it lists the neighbours of a vertex, "
          "give the graph as an edge list (--format snap), with one arc a line; if not, check that this is a text file",
          name(), line_ + 1);
    buffer_.resize(buffer_.size() * 2);
  }
  const std::size_t got = source_.read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  return got > 0;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = begin_;
  while (true) {
    const void* found = std::memchr(buffer_.data() + searched, '\n', end_ - searched);
    if (found) {
      const std::size_t newline = std::size_t(static_cast<const char*>(found) - buffer_.data());
      line = {buffer_.data() + begin_, newline - begin_};
      begin_ = newline + 1;
      break;
    }
    const std::size_t waiting = end_ - begin_;
    if (!fill()) {
      if (waiting == 0) return false;
      line = {buffer_.data() + begin_, waiting};
      begin_ = end_;
      break;
    }
    searched = begin_ + waiting;
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line_ == 0 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);  // a byte order mark
  ++line_;
  return true;
}

Fields::Fields(std::string_view line, char separator)
    : rest_(trim(line)), separator_(separator), done_(rest_.empty()) {}

bool Fields::next(std::string_view& field) {
  if (done_) return false;
  const std::size_t end = separator_ == ' ' ? rest_.find_first_of(" \t") : rest_.find(separator_);
  field = trim(rest_.substr(0, end));
  if (end == std::string_view::npos) {
    done_ = true;
  } else {
    rest_ = trim(rest_.substr(end + 1));
  }
  return true;
}

Index parse_integer(std::string_view field, const LineReader& where) {
  Index value = 0;
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end) {
    fail("{}: {} is beyond 64 bits; whole numbers go to {}: number ids from 0, and correct other numbers",
         where.where(), in_quotes(field), std::numeric_limits<Index>::max());
  }
  if (error != std::errc() || stop != end || field.empty()) {
    fail("{}: {} is not a whole number; {}", where.where(), in_quotes(field), remedy(field, where));
  }
  return value;
}

double parse_real(std::string_view field, const LineReader& where) {
  double value = 0;
  const std::string_view digits = field.starts_with('+') ? field.substr(1) : field;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  const bool out_of_range = error == std::errc::result_out_of_range;
  if ((error != std::errc() && !out_of_range) || stop != end || digits.empty())
    fail("{}: {} is not a number; {}", where.where(), in_quotes(field), remedy(field, where));
  if (!out_of_range) return value;
  // from_chars leaves the value unchanged, whether the number is too large or too small; strtod tells which.
  value = std::strtod(std::string(digits).c_str(), nullptr);
  if (std::isinf(value))
    fail("{}: {} is too large for a number (at most {:.2g}); correct the line", where.where(),
         in_quotes(field), std::numeric_limits<double>::max());
  return value;
}

float as_float32(double value, const std::string& where) {
  const float narrow = float(value);
  if (std::isfinite(value) && !std::isfinite(narrow))
    fail("{}: {} is too large for float32 (at most {:.2g}); correct it", where, value,
         std::numeric_limits<float>::max());
  return narrow;
}

void expect_not_both(const fs::path& one, const fs::path& other) {
  if (fs::exists(one) && fs::exists(other))
    fail("{}: {} is there too, and each could be meant; remove one of them", one.string(),
         other.filename().string());
}

fs::path find_text_file(const fs::path& path) {
  const fs::path packed = path.string() + ".gz";
  expect_not_both(path, packed);
  if (fs::exists(path)) return path;
  return fs::exists(packed) ? packed : fs::path();
}

}  // namespace atl
