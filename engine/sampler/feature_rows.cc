#include "sampler/feature_rows.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace atl {
namespace {

void copy_dense(ThreadPool& pool, ConstMatrixView x, std::span<const VertexId> ids, MatrixView out) {
  if (out.empty()) return;
  ATOLL_CHECK(x.storage() == out.storage(), "{} x {}: held and given rows are stored in two ways", x.rows,
              x.cols);
  constexpr Index kAhead = 4;
  const auto count = Index(ids.size());
  const auto bytes = std::size_t(x.row_bytes());
  for_each_row(pool, count, [&](Index i) {
    if (i + kAhead < count) __builtin_prefetch(row_of(x, ids[std::size_t(i + kAhead)]));
    std::memcpy(row_of(out, i), row_of(x, ids[std::size_t(i)]), bytes);
  });
}

}  // namespace

Index count_entries(const Rows& held, Index row) {
  if (held.sparse != nullptr) return held.sparse->csr.degree(row);
  const BitView& bits = held.bits->bits;
  Index ones = 0;
  for (Index w = 0; w < bits.row_words(); ++w) ones += std::popcount(bits.words[row * bits.row_words() + w]);
  return ones;
}

void put_row(const Rows& held, Index row, FeatureRows::Entries to) {
  if (held.sparse == nullptr)
    return for_each_entry(held, row, [&](VertexId column, Real value) { to.put(column, value); });
  const CsrView& csr = held.sparse->csr;
  to.put(csr.row(row), csr.weights + csr.offsets[row]);
}

void unpack_rows(ThreadPool& pool, const Rows& held, std::span<const VertexId> ids, MatrixView out) {
  if (!held.packed()) return copy_dense(pool, held.dense, ids, out);
  for_each_row(pool, out.rows, [&](Index i) {
    Real* const to = out.row(i);
    std::fill_n(to, out.cols, Real(0));
    for_each_entry(held, ids[std::size_t(i)], [&](VertexId column, Real value) { to[column] = value; });
  });
}

void FeatureRows::shape_dense(Index rows, Index cols, Storage storage, Device device) {
  is_sparse_ = false;
  storage_ = storage;
  const Index reals = reals_of(rows * cols, storage);
  if (reals * Index(sizeof(Real)) > dense.held_bytes()) {
    dense.resize(1, reals_of((rows + rows / 4 + 64) * cols, storage), device);
    ++reallocations_;
  }
  if (storage == Storage::kReals) return dense.resize(rows, cols, device);
  dense.resize(1, reals, device);
  halves_ = MatrixView(dense.data(), rows, cols, storage);
}

std::span<Index> FeatureRows::shape_sparse(Index rows, Index cols) {
  is_sparse_ = true;
  sparse_ = self_ = {};
  sparse_.csr.rows = rows, sparse_.csr.cols = cols;
  const auto offsets = offsets_.take(rows + 1);
  offsets[0] = 0;
  return offsets.subspan(1);
}

void FeatureRows::lay_out() {
  for (Index r = 0; r < sparse_.csr.rows; ++r) offsets_[r + 1] += offsets_[r];
  const Index entries = offsets_[sparse_.csr.rows];
  sparse_.csr.offsets = offsets_.data();
  sparse_.csr.columns = columns_.take(entries).data();
  sparse_.csr.weights = values_.take(entries).data();
  self_ = sparse_;
}

void FeatureRows::take_self(Index destinations) {
  if (!is_sparse_) return;
  self_ = sparse_;
  self_.csr.rows = destinations;
}

void FeatureRows::transpose(Index destinations) {
  if (!is_sparse_) return;
  transposed_.make(sparse_.csr, false, cursors_);
  sparse_.transpose = transposed_.view(sparse_.csr.rows);
  self_ = sparse_;
  if (destinations == sparse_.csr.rows) return;
  self_.csr.rows = destinations;
  self_transposed_.take_first(transposed_, destinations);
  self_.transpose = self_transposed_.view(destinations);
}

void FeatureRows::gather(ThreadPool& pool, const Rows& held, std::span<const VertexId> ids, bool sparse) {
  const auto count = Index(ids.size());
  if (!sparse) {
    shape_dense(count, held.cols());
    return unpack_rows(pool, held, ids, dense);
  }
  const auto lengths = shape_sparse(count, held.cols());
  for (std::size_t i = 0; i < ids.size(); ++i) lengths[i] = count_entries(held, ids[i]);
  lay_out();
  for_each_row(pool, count, [&](Index i) { put_row(held, ids[std::size_t(i)], entries(i)); });
}

Index FeatureRows::bytes() const {
  return dense.held_bytes() + offsets_.bytes() + columns_.bytes() + values_.bytes() + transposed_.bytes() +
         self_transposed_.bytes() + cursors_.bytes();
}

Index FeatureRows::reallocations() const {
  return reallocations_ + offsets_.reallocations() + columns_.reallocations() + values_.reallocations() +
         transposed_.reallocations() + self_transposed_.reallocations() + cursors_.reallocations();
}

}  // namespace atl
