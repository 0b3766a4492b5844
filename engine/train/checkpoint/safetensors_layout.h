// What the writer and the reader of safetensors files must agree on.
#pragma once

#include <span>
#include <string>

#include "train/checkpoint/safetensors.h"

namespace atl {

inline constexpr const char* kMetadataKey = "__metadata__";
inline constexpr const char* kSealKey = "atoll.sha256";

struct TensorTypeRow {
  TensorType type;
  const char* name;
  Index bytes;
};
inline constexpr TensorTypeRow kTensorTypes[] = {{TensorType::kF32, "F32", 4},
                                                 {TensorType::kF64, "F64", 8},
                                                 {TensorType::kI64, "I64", 8},
                                                 {TensorType::kU8, "U8", 1}};

/// SHA-256 of the header's canonical text (keys sorted, no spaces, without the seal) and the data of
/// `tensors`, which are in the order of the file.
std::string safetensors_seal(const std::string& header, std::span<const TensorView> tensors);

}  // namespace atl
