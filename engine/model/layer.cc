#include "model/layer.h"

namespace atl {
namespace {

/// The next matrix begins at a cache line.
Index padded(Index elements) {
  constexpr Index kLine = 64 / Index(sizeof(Real));
  return (elements + kLine - 1) / kLine * kLine;
}

/// Calls visit(spec, rows) for every matrix, in order: a spec over sources has one a slot.
template <class F>
void for_each_matrix(const std::vector<SavedSpec>& specs, Index destination_rows,
                     const std::vector<Index>& source_rows, F&& visit) {
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool over_sources = specs[i].over == SavedSpec::Over::kSources;
    for (std::size_t slot = 0; slot < (over_sources ? source_rows.size() : 1); ++slot) {
      const Index rows = over_sources ? source_rows[slot] : destination_rows;
      visit(i, specs[i].rows >= 0 ? specs[i].rows : rows);
    }
  }
}

}  // namespace

Index Saved::elements(const std::vector<SavedSpec>& specs, Index destination_rows,
                      const std::vector<Index>& source_rows) {
  Index total = 0;
  for_each_matrix(specs, destination_rows, source_rows,
                  [&](std::size_t i, Index rows) { total += padded(rows * specs[i].cols); });
  return total;
}

void Saved::place(const std::vector<SavedSpec>& specs, Index destination_rows,
                  const std::vector<Index>& source_rows, Real* memory) {
  matrices_.assign(specs.size(), {});
  for_each_matrix(specs, destination_rows, source_rows, [&](std::size_t i, Index rows) {
    matrices_[i].emplace_back(memory, rows, specs[i].cols);
    memory += padded(rows * specs[i].cols);
  });
}

}  // namespace atl
