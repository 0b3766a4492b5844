// Sparse matrices in the form of SciPy's save_npz.
#pragma once

#include "dataset/format/npz.h"
#include "dataset/source_files.h"

namespace atl {

inline void write_csr(const std::filesystem::path& path, Index rows, Index cols,
                      std::vector<std::int32_t> offsets, std::vector<std::int32_t> columns,
                      std::vector<float> values, const char* format = "csr") {
  std::filesystem::create_directories(path.parent_path());
  NpzWriter archive(path);
  const Index ends[] = {Index(offsets.size())}, entries[] = {Index(columns.size())},
              count[] = {Index(values.size())};
  const Index two[] = {2};
  const std::int64_t shape[] = {rows, cols};
  archive.add("indptr", Dtype::kInt32, ends, std::span<const std::int32_t>(offsets));
  archive.add("indices", Dtype::kInt32, entries, std::span<const std::int32_t>(columns));
  archive.add("data", Dtype::kFloat32, count, std::span<const float>(values));
  archive.add("shape", Dtype::kInt64, two, std::span<const std::int64_t>(shape));
  archive.add("format", Dtype::kBytes, {}, std::span<const char>(format, 3));
  archive.finish();
}

}  // namespace atl
