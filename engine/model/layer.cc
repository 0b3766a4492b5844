#include "model/layer.h"

namespace atl {
namespace {

/// Rounds up, so that the next matrix begins at a cache line.
Index padded(Index elements) {
  constexpr Index kLine = 64 / Index(sizeof(Real));
  return (elements + kLine - 1) / kLine * kLine;
}

Storage stored(const SavedSpec& spec, Storage values) {
  return spec.is_exact ? Storage::kReals : values;
}

/// Calls visit(spec, rows) for every matrix, in order. A spec over sources has one matrix per slot.
template <class F>
void for_each_matrix(const std::vector<SavedSpec>& specs, const LayerRows& rows, F&& visit) {
  using Over = SavedSpec::Over;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const SavedSpec& spec = specs[i];
    if (spec.rows >= 0) {
      visit(i, spec.rows);
    } else if (spec.over == Over::kSources) {
      for (const Index of_slot : rows.sources) visit(i, of_slot);
    } else {
      visit(i, spec.over == Over::kOutputs    ? rows.outputs
               : spec.over == Over::kBoundary ? rows.boundary
                                              : rows.destinations);
    }
  }
}

}  // namespace

Index Saved::reals(const std::vector<SavedSpec>& specs, const LayerRows& rows, Storage values) {
  Index total = 0;
  for_each_matrix(specs, rows, [&](std::size_t i, Index count) {
    total += padded(reals_of(count * specs[i].cols, stored(specs[i], values)));
  });
  return total;
}

void Saved::place(const std::vector<SavedSpec>& specs, const LayerRows& rows, Storage values, Real* memory) {
  matrices_.resize(specs.size());
  for (auto& each : matrices_) each.clear();
  for_each_matrix(specs, rows, [&](std::size_t i, Index count) {
    const Storage storage = stored(specs[i], values);
    matrices_[i].emplace_back(memory, count, specs[i].cols, storage);
    memory += padded(reals_of(count * specs[i].cols, storage));
  });
}

}  // namespace atl
