// The text before an array's data: a Python dict literal of three known keys.
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "dataset/format/byte_source.h"
#include "dataset/format/npy.h"

namespace atl {
namespace {

struct DtypeRow {
  std::string_view code;  // without the byte order
  Dtype dtype;
  Index bytes;
  std::string_view name;
};

constexpr std::array<DtypeRow, 12> kDtypes{{{"b1", Dtype::kBool, 1, "bool"},
                                            {"i1", Dtype::kInt8, 1, "int8"},
                                            {"i2", Dtype::kInt16, 2, "int16"},
                                            {"i4", Dtype::kInt32, 4, "int32"},
                                            {"i8", Dtype::kInt64, 8, "int64"},
                                            {"u1", Dtype::kUint8, 1, "uint8"},
                                            {"u2", Dtype::kUint16, 2, "uint16"},
                                            {"u4", Dtype::kUint32, 4, "uint32"},
                                            {"u8", Dtype::kUint64, 8, "uint64"},
                                            {"f2", Dtype::kFloat16, 2, "float16"},
                                            {"f4", Dtype::kFloat32, 4, "float32"},
                                            {"f8", Dtype::kFloat64, 8, "float64"}}};

/// Reads the dict literal from left to right.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  bool accept(char c) {
    skip_space();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) broken(fmt::format("'{}' is missing", c));
  }
  std::string_view quoted() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    const std::size_t end = rest_.size() < 2 ? std::string_view::npos : rest_.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos) broken("a quoted word is missing");
    const std::string_view word = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return word;
  }
  bool boolean() {
    skip_space();
    for (const auto& [word, value] : {std::pair("True", true), std::pair("False", false)}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(std::string_view(word).size());
      return value;
    }
    broken("fortran_order is neither True nor False");
  }
  Index length() {
    skip_space();
    Index value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) broken("a length in shape is not a count");
    rest_.remove_prefix(std::size_t(end - rest_.data()));
    accept('L');  // Python 2 wrote 2708L
    return value;
  }
  [[noreturn]] void broken(const std::string& what) const {
    fail("{}: its .npy header is damaged: {}; write the array again with numpy.save", name_, what);
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  const std::string& name_;
};

std::vector<Index> parse_shape(HeaderText& text) {
  std::vector<Index> shape;
  text.expect('(');
  while (!text.accept(')')) {
    shape.push_back(text.length());
    if (!text.accept(',')) {
      text.expect(')');
      break;
    }
  }
  return shape;
}

NpyHeader parse_dict(std::string_view literal, const std::string& name) {
  NpyHeader header;
  bool dtype_seen = false, order_seen = false, shape_seen = false;
  HeaderText text(literal, name);
  text.expect('{');
  while (!text.accept('}')) {
    const std::string_view key = text.quoted();
    text.expect(':');
    if (key == "descr") {
      if (text.accept('[')) fail("{}: is a structured array; save each field as an array of its own", name);
      std::tie(header.dtype, header.item_bytes) = parse_dtype(text.quoted(), name);
      dtype_seen = true;
    } else if (key == "fortran_order") {
      header.fortran = text.boolean();
      order_seen = true;
    } else if (key == "shape") {
      header.shape = parse_shape(text);
      shape_seen = true;
    } else {
      text.broken(fmt::format("the key {} is unknown", in_quotes(key)));
    }
    text.accept(',');
  }
  if (!dtype_seen || !order_seen || !shape_seen) text.broken("one of descr, fortran_order, shape is missing");
  return header;
}

}  // namespace

std::string to_string(Dtype dtype) {
  for (const DtypeRow& row : kDtypes) {
    if (row.dtype == dtype) return std::string(row.name);
  }
  return "text";
}

bool is_text(Dtype dtype) {
  return dtype == Dtype::kBytes || dtype == Dtype::kUnicode;
}

bool is_floating(Dtype dtype) {
  return dtype == Dtype::kFloat16 || dtype == Dtype::kFloat32 || dtype == Dtype::kFloat64;
}

std::pair<Dtype, Index> parse_dtype(std::string_view code, const std::string& name) {
  const std::string_view kind = code.empty() ? code : code.substr(1);
  if (code.starts_with('>')) {
    fail("{}: is big-endian ({}); write it little-endian: numpy.save(path, array.astype({}))", name,
         in_quotes(code), in_quotes("<" + std::string(kind)));
  }
  if (code.starts_with('<') || code.starts_with('|') || code.starts_with('=')) {
    for (const DtypeRow& row : kDtypes) {
      if (row.code == kind) return {row.dtype, row.bytes};
    }
    Index letters = 0;
    const bool string = (kind.starts_with('S') || kind.starts_with('U')) && kind.size() <= 8;
    if (string && std::from_chars(kind.data() + 1, kind.data() + kind.size(), letters).ec == std::errc() &&
        letters > 0) {
      if (kind[0] == 'U') return {Dtype::kUnicode, 4 * letters};
      return {Dtype::kBytes, letters};
    }
  }
  if (kind == "O") {
    fail(
        "{}: holds Python objects; save numbers with astype('int64') or astype('float32'), text with astype(str)",
        name);
  }
  fail(
      "{}: has dtype {}; allowed are bool, integers, float16, float32, float64 and text: convert it with "
      "astype()",
      name, in_quotes(code));
}

std::optional<Index> npy_data_bytes(const NpyHeader& header) {
  Index bytes = header.item_bytes;
  bool empty = false;
  for (Index length : header.shape) {
    empty = empty || length == 0;
    if (length < 0 || (length > 0 && __builtin_mul_overflow(bytes, length, &bytes))) return std::nullopt;
  }
  return empty ? 0 : bytes;
}

NpyHeader parse_npy_header(std::string_view bytes, const std::string& name) {
  const bool is_array = bytes.starts_with("\x93NUMPY");
  if (const std::string_view other = is_array ? "" : known_kind(bytes.substr(0, kKindBytes)); !other.empty())
    fail("{}: {}", name, other);
  if (bytes.size() < 10 || !is_array) {
    fail("{}: is not a .npy array (its first bytes differ); write it with numpy.save", name);
  }
  const auto byte = [&](std::size_t i) { return std::size_t(static_cast<unsigned char>(bytes[i])); };
  const bool wide = byte(6) >= 2;  // format 1.0 has a length of 2 bytes, later ones of 4
  const std::size_t text_begin = wide ? 12 : 10;
  if (bytes.size() < text_begin) fail("{}: ends inside its .npy header; copy or download it again", name);
  std::size_t text_bytes = byte(8) | byte(9) << 8;
  if (wide) text_bytes |= byte(10) << 16 | byte(11) << 24;
  if (bytes.size() - text_begin < text_bytes) {
    fail("{}: ends inside its .npy header; copy or download it again", name);
  }
  NpyHeader header = parse_dict(bytes.substr(text_begin, text_bytes), name);
  header.data_offset = Index(text_begin + text_bytes);
  const std::optional<Index> needed = npy_data_bytes(header);
  const Index present = Index(bytes.size()) - header.data_offset;
  if (!needed || *needed > present) {
    fail(
        "{}: is cut off: its header says {} bytes of data, but the file has {}; copy or download "
        "it again",
        name, needed ? std::to_string(*needed) : "too many", present);
  }
  return header;
}

}  // namespace atl
