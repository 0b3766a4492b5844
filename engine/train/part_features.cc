// A rank's features as it reads them from the data set: dense, sparse or bits, in Reals or in halves.
#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <vector>

#include "tensor/bfloat16.h"
#include "train/part_data.h"

namespace atl {
namespace {

/// Divides each row by the sum of its values' magnitudes, as set-ups for the citation data sets do; zero rows
/// stay zero.
void normalise_rows(MatrixView x) {
  for (Index r = 0; r < x.rows; ++r) {
    double sum = 0;
    for (Index c = 0; c < x.cols; ++c) sum += std::abs(double(x.at(r, c)));
    if (sum == 0) continue;
    for (Index c = 0; c < x.cols; ++c) x.at(r, c) = Real(x.at(r, c) / sum);
  }
}

void normalise_rows(Csr& x) {
  for (Index r = 0; r < x.rows; ++r) {
    const auto begin = std::size_t(x.offsets[std::size_t(r)]),
               end = std::size_t(x.offsets[std::size_t(r) + 1]);
    double sum = 0;
    for (auto e = begin; e < end; ++e) sum += std::abs(double(x.weights[e]));
    if (sum == 0) continue;
    for (auto e = begin; e < end; ++e) x.weights[e] = float(x.weights[e] / sum);
  }
}

/// The same for rows whose values are 0 or one other value.
void normalise_levels(const BitView& bits, std::vector<Real>& levels) {
  for (Index r = 0; r < bits.rows; ++r) {
    Index ones = 0;
    for (Index w = 0; w < bits.row_words(); ++w) ones += std::popcount(bits.words[r * bits.row_words() + w]);
    Real& level = levels[std::size_t(r)];
    if (ones > 0) level = std::copysign(Real(1) / Real(ones), level);
  }
}

}  // namespace

Rows PartData::Features::read_rows(const Dataset& dataset, std::span<const VertexId> vertices, const Job& job,
                                   FeatureForm form) {
  const bool normalise = job.dataset.normalise_features == NormaliseFeatures::kRow;
  if (form == FeatureForm::kSparse) {
    sparse = dataset.read_sparse_features(vertices);
    if (normalise) normalise_rows(sparse);
    sparse_view = {sparse.view(), {}};
    return &sparse_view;
  }
  if (form == FeatureForm::kBits) {
    bits = dataset.read_feature_bits(vertices);
    levels = dataset.read_feature_levels(vertices);
    if (normalise) normalise_levels(bits.view(), levels);
    bit_view = {bits.view(), {}, levels.data()};
    return &bit_view;
  }
  if (kept_storage(job, dataset.meta().feature_form) == Storage::kHalves)
    return read_halves(dataset, vertices, normalise);
  dense.resize(Index(vertices.size()), dataset.meta().features);
  dataset.read_features(vertices, dense);
  if (normalise) normalise_rows(dense.view());
  return ConstMatrixView(dense);
}

Rows PartData::Features::read(const Dataset& dataset, std::span<const VertexId> vertices, const Job& job,
                              FeatureForm form) {
  const Rows rows = read_rows(dataset, vertices, job, form);
  transpose_packed(form);
  return rows;
}

void PartData::Features::transpose_packed(FeatureForm form) {
  if (form == FeatureForm::kSparse) {
    transpose = atl::transpose(sparse.view(), false);
    sparse_view.transpose = transpose.csr.view();
  } else if (form == FeatureForm::kBits) {
    bits_transposed = atl::transpose(bits.view());
    bit_view.transpose = bits_transposed.view();
  }
}

/// Reads some rows at a time, so that few rows at a time are in memory as Reals. The view says how rows are
/// stored even if there are none.
Rows PartData::Features::read_halves(const Dataset& dataset, std::span<const VertexId> vertices,
                                     bool normalise) {
  constexpr std::size_t kPiece = 4096;
  const Index rows = Index(vertices.size()), cols = dataset.meta().features;
  dense.resize(1, std::max<Index>(1, reals_of(rows * cols, Storage::kHalves)));
  const MatrixView all(dense.data(), rows, cols, Storage::kHalves);
  Bfloat16* to = all.halves;
  Matrix piece;
  for (std::size_t begin = 0; begin < vertices.size(); begin += kPiece) {
    const auto some = vertices.subspan(begin, std::min(kPiece, vertices.size() - begin));
    piece.resize(Index(some.size()), cols);
    dataset.read_features(some, piece);
    if (normalise) normalise_rows(piece.view());
    for (Index i = 0; i < piece.rows() * cols; ++i) *to++ = to_bfloat16(float(piece.data()[i]));
  }
  return ConstMatrixView(all);
}

}  // namespace atl
