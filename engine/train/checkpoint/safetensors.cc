#include "train/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/sha256.h"
#include "train/checkpoint/safetensors_layout.h"

namespace atl {
namespace {

using Json = nlohmann::json;  // objects are sorted by key: the same header always dumps to the same bytes

/// Wide types first: then every tensor of ours starts at a multiple of its width, though the format allows no
/// holes.
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

}  // namespace atl
