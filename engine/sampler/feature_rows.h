// Rows of features as a batch's first layer reads them: dense, or sparse if the layer multiplies sparse rows.
// They are put together row by row from the rows that ranks hold. Held rows may have another form, sparse or
// bits, which takes less memory and fewer bytes on the wire.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "base/reusable.h"
#include "base/threads.h"
#include "sampler/batch.h"
#include "tensor/rows.h"

namespace atl {

/// Calls visit(row) for each of `rows` rows, on all threads of the pool.
template <class Visit>
void for_each_row(ThreadPool& pool, Index rows, Visit visit) {
  constexpr Index kChunk = 256;  // rows that a thread takes at a time
  pool.run((rows + kChunk - 1) / kChunk, [&](Index chunk, int) {
    for (Index i = chunk * kChunk; i < std::min(rows, (chunk + 1) * kChunk); ++i) visit(i);
  });
}

/// Where a dense row begins, in either storage.
inline std::byte* row_of(MatrixView x, Index row) {
  return x.halves != nullptr ? reinterpret_cast<std::byte*>(x.halves + row * x.stride)
                             : reinterpret_cast<std::byte*>(x.row(row));
}
inline const std::byte* row_of(ConstMatrixView x, Index row) {
  return x.halves != nullptr ? reinterpret_cast<const std::byte*>(x.halves + row * x.stride)
                             : reinterpret_cast<const std::byte*>(x.row(row));
}

/// Calls visit(column, value) for each nonzero value of a packed row, by ascending column.
template <class Visit>
void for_each_bit(std::span<const std::uint32_t> words, Visit visit) {
  for (std::size_t w = 0; w < words.size(); ++w)
    for (std::uint32_t left = words[w]; left != 0; left &= left - 1)
      visit(VertexId(32 * w) + VertexId(std::countr_zero(left)));
}
template <class Visit>
void for_each_entry(const Rows& held, Index row, Visit visit) {
  if (held.bits != nullptr) {
    const BitView& bits = held.bits->bits;
    const Real level = held.bits->levels[row];
    const std::span words(bits.words + row * bits.row_words(), std::size_t(bits.row_words()));
    return for_each_bit(words, [&](VertexId column) { visit(column, level); });
  }
  const CsrView& csr = held.sparse->csr;
  for (Index e = csr.offsets[row]; e < csr.offsets[row + 1]; ++e) visit(csr.columns[e], Real(csr.weights[e]));
}
/// The number of nonzero values.
Index count_entries(const Rows& held, Index row);

/// Fills out (ids.size(), columns) with the held rows that `ids` names. Held rows are dense, in the storage
/// of `out`, or packed; packed rows are written as Reals.
void unpack_rows(ThreadPool& pool, const Rows& held, std::span<const VertexId> ids, MatrixView out);

/// Reused from batch to batch; neither copyable nor movable after rows() was called.
class FeatureRows {
 public:
  Matrix dense;  // (rows, columns) of dense rows; (1, n) if they are stored in halves, which take n Reals

  /// Makes room for dense rows, and for some more if memory must grow.
  void shape_dense(Index rows, Index cols, Storage storage = Storage::kReals, Device device = Device::kCpu);
  /// (rows, columns), as shaped; valid until the next shape.
  MatrixView dense_rows() { return storage_ == Storage::kReals ? dense.view() : halves_; }
  ConstMatrixView dense_rows() const {
    return storage_ == Storage::kReals ? dense.view() : ConstMatrixView(halves_);
  }
  /// How dense rows are stored, even if there are none.
  Storage storage() const { return storage_; }
  /// Begins sparse rows. The caller writes each row's number of entries to the array (rows) that this
  /// returns. lay_out() then makes room for the entries.
  std::span<Index> shape_sparse(Index rows, Index cols);
  void lay_out();
  struct Entries {
    VertexId* columns;
    float* values;
    void put(VertexId column, Real value) { *columns++ = column, *values++ = float(value); }
    void put(std::span<const VertexId> from, const float* of) {
      columns = std::ranges::copy(from, columns).out;
      values = std::copy_n(of, from.size(), values);
    }
  };
  Entries entries(Index row) { return {columns_.data() + offsets_[row], values_.data() + offsets_[row]}; }
  /// Makes the transposes that the backward pass reads: one of all rows and one of the first `destinations`
  /// rows. Call it when all entries of sparse rows are written; dense rows stay as they are.
  void transpose(Index destinations);
  /// Prepares self() alone, for batches without a backward pass.
  void take_self(Index destinations);
  /// Copies the held rows that `ids` names, in that order: as sparse rows if `sparse`, otherwise as dense
  /// ones.
  void gather(ThreadPool& pool, const Rows& held, std::span<const VertexId> ids, bool sparse);
  /// Refers to sparse rows that have sizes but no arrays, for a plan.
  void refer(const SparseRows& rows, const SparseRows& self) {
    sparse_ = rows, self_ = self, is_sparse_ = true;
  }

  bool is_sparse() const { return is_sparse_; }
  Index count() const { return is_sparse_ ? sparse_.csr.rows : dense_rows().rows; }
  /// Views; valid until the next shape.
  Rows rows() const { return is_sparse_ ? Rows(&sparse_) : Rows(dense_rows()); }
  /// The destinations' rows if rows are sparse; otherwise empty (RangeInput::self).
  Rows self() const { return is_sparse_ ? Rows(&self_) : Rows(); }
  Index bytes() const;
  Index reallocations() const;

 private:
  bool is_sparse_ = false;
  Storage storage_ = Storage::kReals;
  MatrixView halves_;        // view of `dense`, if rows are stored in halves
  Reusable<Index> offsets_;  // (rows + 1)
  Reusable<VertexId> columns_;
  Reusable<float> values_;
  TransposedArcs transposed_, self_transposed_;
  Reusable<std::uint32_t> cursors_;
  SparseRows sparse_, self_;
  Index reallocations_ = 0;
};

/// Writes a packed row's entries.
void put_row(const Rows& held, Index row, FeatureRows::Entries to);

}  // namespace atl
