#include "sampler/column_sums.h"

namespace atl {
namespace {

void add_to(RowTable& table, Recycled<VertexId>& columns, Recycled<double>& values, VertexId column,
            double value) {
  const auto next = VertexId(columns.size());
  const VertexId at = table.find_or_add(column, next);
  if (at == next) {
    columns.push(column);
    values.push(0);
  }
  values[at] += value;
}

}  // namespace

void ColumnSums::clear() {
  table_.clear();
  columns_.take(0), values_.take(0);
}

void ColumnSums::add(VertexId column, double value) {
  add_to(table_, columns_, values_, column, value);
}

/// Here the one who asks is the one who tells: values go the way of the row numbers.
void ColumnSums::sum() {
  requests_.ask(Traffic::kStructure, columns_.span());
  const auto places = requests_.places();
  wanted_.take(Index(places.size()));
  for (std::size_t i = 0; i < places.size(); ++i) wanted_[Index(i)] = values_[places[i]];
  const auto asked = requests_.asked();
  const RowRequests::Answers values{wanted_.data(), requests_.wanted_begin(),
                                    asked_.take(Index(asked.size())).data(), requests_.asked_begin(),
                                    Index(sizeof(double))};
  requests_.answer(Traffic::kStructure, {&values, 1});
  summed_table_.clear();
  summed_columns_.take(0), sums_.take(0);
  for (std::size_t i = 0; i < asked.size(); ++i)
    add_to(summed_table_, summed_columns_, sums_, asked[i], asked_[Index(i)]);
}

Index ColumnSums::growths() const {
  return requests_.growths() + table_.growths() + summed_table_.growths() + columns_.growths() +
         summed_columns_.growths() + values_.growths() + wanted_.growths() + asked_.growths() +
         sums_.growths();
}

}  // namespace atl
