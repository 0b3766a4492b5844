#include "train/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"

namespace atl {
namespace {

using Json = nlohmann::json;  // objects are sorted by key: the same header always dumps to the same bytes

/// Wide types come first. Then each of our tensors starts at a multiple of its width, although the format
/// allows no gaps.
std::vector<TensorView> in_file_order(std::span<const TensorView> tensors) {
  std::vector<TensorView> ordered(tensors.begin(), tensors.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const TensorView& a, const TensorView& b) {
    return type_bytes(a.type) > type_bytes(b.type);
  });
  return ordered;
}

Json make_header(std::span<const TensorView> tensors, const Metadata& metadata) {
  Json header = {{kMetadataKey, metadata}};
  Index begin = 0;
  for (const TensorView& tensor : tensors) {
    ATOLL_CHECK(!header.contains(tensor.name), "two tensors are called {}", tensor.name);
    const Index end = begin + tensor.bytes();
    header[tensor.name] = {
        {"dtype", type_name(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
    begin = end;
  }
  return header;
}

}  // namespace

const char* type_name(TensorType type) {
  return kTensorTypes[std::size_t(type)].name;
}
Index type_bytes(TensorType type) {
  return kTensorTypes[std::size_t(type)].bytes;
}

Index TensorView::count() const {
  return std::accumulate(shape.begin(), shape.end(), Index(1), std::multiplies<>());
}

std::string write_safetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                              const Metadata& metadata) {
  const std::vector<TensorView> ordered = in_file_order(tensors);
  Json header = make_header(ordered, metadata);
  const std::string seal = safetensors_seal(header.dump(), ordered);
  header[kMetadataKey][kSealKey] = seal;
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');

  AtomicFile file(path);
  std::array<unsigned char, 8> length;
  for (std::size_t i = 0; i < 8; ++i)
    length[i] = static_cast<unsigned char>(std::uint64_t(text.size()) >> (8 * i));
  file.write(length.data(), length.size());
  file.write(text);
  for (const TensorView& tensor : ordered) file.write(tensor.data, std::size_t(tensor.bytes()));
  file.commit();
  return seal;
}

std::string safetensors_seal(const std::string& header, std::span<const TensorView> tensors) {
  Sha256 digest;
  digest.update(header);
  for (const TensorView& tensor : tensors) digest.update(tensor.data, std::size_t(tensor.bytes()));
  return digest.hex();
}

// Reading safetensors: nothing in the file is trusted before it is checked.

namespace {

using Json = nlohmann::json;  // objects are sorted by key: dump() gives the canonical text

constexpr std::uint64_t kLargestHeader = 100'000'000;  // the format's own limit

std::string shape_text(const std::vector<Index>& shape) {
  return Json(shape).dump();
}

/// The seal that the file should have.
std::string seal_of(Json header, std::span<const TensorView> tensors) {
  header[kMetadataKey].erase(kSealKey);
  return safetensors_seal(header.dump(), tensors);
}

[[noreturn]] void fail_to_read(const std::filesystem::path& path, const std::string& what) {
  fail("{}: is not a valid safetensors file: {}; use another copy, or train again", path.string(), what);
}

std::uint64_t little_endian(const unsigned char* bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t(bytes[i]) << (8 * i);
  return value;
}

// Below, a std::string is thrown that says what is wrong; read() adds the file's name.

/// The lengths of a shape, whose product may be at most 2^60 elements.
std::vector<Index> parse_shape(const std::string& name, const Json& json) {
  constexpr Index kMost = Index(1) << 60;
  if (!json.is_array()) throw fmt::format("tensor {} has shape {}", name, json.dump());
  std::vector<Index> shape;
  Index count = 1;
  for (const Json& length : json) {
    if (!length.is_number_unsigned() || length > kMost ||
        __builtin_mul_overflow(count, length.get<Index>(), &count) || count > kMost)
      throw fmt::format("tensor {} has shape {}", name, json.dump());
    shape.push_back(length.get<Index>());
  }
  return shape;
}

/// One tensor of the header.
TensorView parse_tensor(const std::string& name, const Json& entry, std::span<const std::byte> data) {
  const auto type = std::find_if(std::begin(kTensorTypes), std::end(kTensorTypes),
                                 [&](const TensorTypeRow& row) { return entry.at("dtype") == row.name; });
  if (type == std::end(kTensorTypes))
    throw fmt::format("tensor {} has dtype {} (read here: F32, F64, I64, U8)", name,
                      entry.at("dtype").dump());
  TensorView tensor{name, type->type, parse_shape(name, entry.at("shape")), nullptr};
  const Json& offsets = entry.at("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned())
    throw fmt::format("tensor {} has data_offsets {}", name, offsets.dump());
  const auto begin = offsets[0].get<std::uint64_t>(), end = offsets[1].get<std::uint64_t>();
  if (begin > end || end > data.size() || end - begin != std::uint64_t(tensor.bytes()))
    throw fmt::format("tensor {} has data_offsets {} … {}, but needs {} bytes within the file's {}", name,
                      begin, end, tensor.bytes(), data.size());
  tensor.data = data.data() + begin;
  return tensor;
}

/// Sorts tensors by position. They must cover the data once and without gaps.
void check_coverage(std::vector<TensorView>& tensors, std::span<const std::byte> data) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorView& a, const TensorView& b) {
    return std::pair(a.data, a.bytes()) < std::pair(b.data, b.bytes());
  });
  const std::byte* next = data.data();
  for (const TensorView& tensor : tensors) {
    if (tensor.data != next)
      throw fmt::format("tensor {} {} at byte {}", tensor.name,
                        tensor.data < next ? "overlaps another" : "follows a hole",
                        tensor.data - data.data());
    next += tensor.bytes();
  }
  if (next != data.data() + data.size())
    throw fmt::format("{} bytes after the last tensor", data.data() + data.size() - next);
}

/// The text of the header; the data follows it.
std::string_view header_text(std::span<const std::byte> file) {
  if (file.size() < 8) throw fmt::format("only {} bytes", file.size());
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
  const std::uint64_t length = little_endian(bytes);
  if (length > file.size() - 8 || length > kLargestHeader)
    throw fmt::format("a header of {} bytes in a file of {}", length, file.size());
  return {reinterpret_cast<const char*>(bytes + 8), length};
}

}  // namespace

SafetensorsFile SafetensorsFile::read(const std::filesystem::path& path) {
  std::error_code missing;
  const std::uint64_t file_bytes = std::filesystem::file_size(path, missing);
  std::ifstream in(path, std::ios::binary);
  if (missing || !in) fail("{}: cannot be read; check the path and its permissions", path.string());
  std::vector<std::byte> bytes(file_bytes);
  if (!in.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size())))
    fail_to_read(path, "the data cannot be read");
  return parse(std::move(bytes), path);
}

SafetensorsFile SafetensorsFile::parse(std::vector<std::byte> bytes, const std::filesystem::path& path) {
  SafetensorsFile file;
  file.path_ = path;
  file.bytes_ = std::move(bytes);
  try {
    const std::string_view text = header_text(file.bytes_);
    const std::span<const std::byte> data = std::span(file.bytes_).subspan(8 + text.size());
    const Json header = parse_json(text);
    if (!header.is_object()) throw std::string("the header is not a JSON object");
    for (const auto& [name, entry] : header.items()) {
      if (name == kMetadataKey)
        file.metadata_ = entry.get<Metadata>();
      else
        file.tensors_.push_back(parse_tensor(name, entry, data));
    }
    check_coverage(file.tensors_, data);
    if (!file.seal().empty() && file.seal() != seal_of(header, file.tensors_))
      throw std::string("its contents don't match its checksum");
  } catch (const std::string& what) {
    fail_to_read(path, what);
  } catch (const Json::exception& error) {
    fail_to_read(path, error.what());
  }
  return file;
}

const std::string& SafetensorsFile::seal() const {
  static const std::string none;
  const auto found = metadata_.find(kSealKey);
  return found == metadata_.end() ? none : found->second;
}

const TensorView* SafetensorsFile::find(const std::string& name) const {
  const auto found =
      std::find_if(tensors_.begin(), tensors_.end(), [&](const TensorView& t) { return t.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

void SafetensorsFile::copy_bytes(const std::string& name, TensorType type, const std::vector<Index>& shape,
                                 Index begin, Index count, std::byte* out) const {
  const TensorView* tensor = find(name);
  if (tensor == nullptr)
    fail("{}: has no tensor {}; it belongs to another model or strategy", path_.string(), name);
  if (tensor->type != type || tensor->shape != shape) {
    fail(
        "{}: tensor {} is {} {}, but this run's is {} {}; it belongs to another model: give the "
        "manifest's model the same shape, or choose another folder with --output",
        path_.string(), name, type_name(tensor->type), shape_text(tensor->shape), type_name(type),
        shape_text(shape));
  }
  const Index rows = shape.empty() ? 1 : shape[0];
  ATOLL_CHECK(begin >= 0 && count >= 0 && begin + count <= rows, "rows {}+{} of {}", begin, count, rows);
  if (count == 0 || tensor->bytes() == 0) return;
  const Index row = tensor->bytes() / rows;
  std::memcpy(out, tensor->data + begin * row, std::size_t(count * row));
}

}  // namespace atl
