#include "graph/normalisation.h"

#include <cmath>

namespace atl {

double degree_of(const CsrView& a, Index row) {
  if (a.weights == nullptr) return double(a.degree(row));
  double sum = 0;
  for (Index e = a.offsets[row]; e < a.offsets[row + 1]; ++e) sum += a.weights[e];
  return sum;
}

Real dst_factor(Normalisation normalisation, double degree) {
  if (normalisation == Normalisation::kMean) return degree > 0 ? Real(1 / degree) : Real(0);
  return src_factor(normalisation, degree);
}

Real src_factor(Normalisation normalisation, double degree) {
  if (normalisation != Normalisation::kSymmetric) return 1;
  return degree > 0 ? Real(1 / std::sqrt(degree)) : Real(0);
}

}  // namespace atl
