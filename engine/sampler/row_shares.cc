#include "sampler/row_shares.h"

namespace atl {

void RowShares::count(const Batch& batch, SharedRows& into) {
  const auto sets = std::size_t(batch.layers()) + 1;
  into.weights.resize(sets);
  into.owned.resize(sets);
  for (std::size_t h = 0; h < sets; ++h) {
    const Index rows = h == 0 ? Index(batch.seeds().size()) : batch.input_rows(batch.layers() - int(h));
    count_set(batch.rows().first(std::size_t(rows)), into.weights[h], into.owned[h]);
  }
}

void RowShares::count_set(std::span<const VertexId> rows, Recycled<Real>& weights, double& owned) {
  requests_.ask(Traffic::kIds, rows);
  const auto asked = requests_.asked();
  table_.clear();
  counts_.take(0);
  for (const VertexId row : asked) {
    const VertexId number = table_.find_or_add(row, VertexId(counts_.size()));
    if (number == VertexId(counts_.size())) counts_.push(0);
    ++counts_[number];
  }
  owned = double(counts_.size());
  answers_.take(Index(asked.size()));
  for (std::size_t i = 0; i < asked.size(); ++i) answers_[Index(i)] = counts_[table_.find(asked[i])];
  const auto answers = requests_.by_row(answers_, arrived_);
  requests_.answer(Traffic::kIds, {&answers, 1});
  weights.take(Index(rows.size()));
  const auto places = requests_.places();
  for (std::size_t i = 0; i < places.size(); ++i) weights[places[i]] = Real(1) / Real(arrived_[Index(i)]);
}

}  // namespace atl
