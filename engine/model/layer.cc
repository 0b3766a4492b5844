#include "model/layer.h"

namespace atl {

void Saved::allocate(const std::vector<SavedSpec>& specs, Index destination_rows,
                     const std::vector<Index>& source_rows) {
  matrices_.resize(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool over_sources = specs[i].over == SavedSpec::Over::kSources;
    matrices_[i].resize(over_sources ? source_rows.size() : 1);
    for (std::size_t slot = 0; slot < matrices_[i].size(); ++slot) {
      const Index rows = over_sources ? source_rows[slot] : destination_rows;
      matrices_[i][slot].resize(specs[i].rows >= 0 ? specs[i].rows : rows, specs[i].cols);
    }
  }
}

Index Saved::bytes() const {
  Index total = 0;
  for (const auto& slots : matrices_) {
    for (const Matrix& m : slots) total += m.bytes();
  }
  return total;
}

}  // namespace atl
