#include "plan/dry_columns.h"

namespace atl {

void DryFeatures::shape(Index rows, Index destinations, const FeatureShape& features, FeatureRows& out) {
  offsets_.clear();
  if (features.packed()) return out.refer(sparse(rows, features), sparse(destinations, features));
  out.shape_dense(rows, features.columns, features.storage, Device::kDry);
}

/// Sparse rows and their transpose: row offsets alone, with all entries in the last row.
SparseRows DryFeatures::sparse(Index rows, const FeatureShape& features) {
  const auto entries = Index(double(rows) * features.nonzeros_per_row);
  const auto csr = [&](Index of_rows, Index cols) -> CsrView {
    const Allocation claimed = memory_of(Device::kDry).allocate((std::size_t(of_rows) + 1) * sizeof(Index));
    auto* offsets = static_cast<Index*>(claimed.data);
    offsets_.emplace_back(offsets, ReleaseMemory{Device::kDry});
    offsets[of_rows] = of_rows == 0 ? 0 : entries;
    return {of_rows, cols, offsets, nullptr, nullptr};
  };
  return {csr(rows, features.columns), csr(features.columns, rows)};
}

}  // namespace atl
