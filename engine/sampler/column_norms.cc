#include "sampler/column_norms.h"

#include "sampler/column_sums.h"
#include "sampler/own_rows.h"

namespace atl {

double squared_entry(Normalisation normalisation, double weight, double degree) {
  const double entry = weight * double(dst_factor(normalisation, degree));
  return entry * entry;
}

std::vector<double> squared_source_factors(const SetInput& in) {
  std::vector<double> factors;
  if (in.normalisation != Normalisation::kSymmetric) return factors;
  factors.reserve(std::size_t(in.owners.rows(in.rank())));
  for_each_own_row(in, [&](const OwnRow& row) {
    const auto factor = double(src_factor(in.normalisation, row.degree));
    factors.push_back(factor * factor);
  });
  return factors;
}

std::vector<double> column_norms(const SetInput& in) {
  ColumnSums sums(in.owners, in.comm);
  sums.clear();
  for_each_own_row(in, [&](const OwnRow& row) {
    for (std::size_t e = 0; e < row.columns.size(); ++e)
      sums.add(row.columns[e], squared_entry(in.normalisation, row.weight(e), row.degree));
  });
  sums.sum();
  const std::vector<double> factors = squared_source_factors(in);
  const Index first = in.owners.first_row(in.rank());
  std::vector<double> norms(std::size_t(in.owners.rows(in.rank())), 0);
  for (std::size_t i = 0; i < sums.columns().size(); ++i) {
    const auto row = std::size_t(sums.columns()[i] - first);
    norms[row] = sums.sums()[i] * (factors.empty() ? 1 : factors[row]);
  }
  return norms;
}

}  // namespace atl
