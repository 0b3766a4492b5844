#include "sampler/drawn_together.h"

namespace atl {

DrawnTogether::DrawnTogether(const SetInput& in)
    : in_(in), first_(VertexId(in.owners.first_row(in.rank()))), offsets_{0} {
  for_each_own_row(
      in, [&](const OwnRow& row) { offsets_.push_back(offsets_.back() + Index(row.columns.size())); });
  rows_.assign(offsets_.size() - 1, 0);
  arcs_.assign(std::size_t(offsets_.back()), 0);
}

void DrawnTogether::count(std::span<const VertexId> rows) {
  ++subgraphs_;
  table_.clear();
  own_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table_.find_or_add(rows[i], VertexId(i));
    if (in_.owners.owns(in_.rank(), rows[i])) own_.push_back(rows[i]);
  }
  in_.own_rows.draw({}, own_, drawn_);
  for (std::size_t i = 0; i < own_.size(); ++i) {
    const auto at = std::size_t(own_[i] - first_);
    const OwnRow row = own_row(drawn_, own_, Index(i));
    ++rows_[at];
    for (std::size_t e = 0; e < row.columns.size(); ++e)
      if (table_.find(row.columns[e]) >= 0) ++arcs_[std::size_t(offsets_[at]) + e];
  }
}

}  // namespace atl
