// Sums over neighbours. A tile of columns of one output row stays in registers while the loop goes over the
// row's arcs and prefetches the rows of later arcs. The caller chooses column tiles (they keep x's slice in
// the last-level cache).
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/mask.h"
#include "tensor/cpu/simd/stored.h"

namespace atl::simd::ATOLL_LEVEL {
namespace {

constexpr int kTile =
    kBytes == 64 ? 4 : 8;     // registers; with SSE's sixteen, a width of four cache lines is too much
constexpr Index kAhead = 20;  // arcs between prefetch and use
constexpr int kBlock = 256;   // arcs whose values are prepared together

enum class Factor { kOne, kColumn, kValue };

/// A tile's columns: N registers, of which the last has `part` lanes if kPart.
template <int N, bool kPart>
struct Columns {
  Index first;
  int part;

  template <class T>
  Vec get(const T* row, int k) const {
    return kPart && k == N - 1 ? load_part(row + first + k * kLanes, part) : load(row + first + k * kLanes);
  }
  template <class T>
  void put(T* row, int k, Vec v) const {
    if (kPart && k == N - 1) {
      store_part(row + first + k * kLanes, v, part);
    } else {
      store(row + first + k * kLanes, v);
    }
  }
  template <class T>
  void prefetch(const T* row) const {
    constexpr int kLineBytes = N * kLanes * int(sizeof(T));
    for (int line = 0; line < (kLineBytes + 63) / 64; ++line) {
      __builtin_prefetch(reinterpret_cast<const char*>(row + first) + 64 * line);
    }
  }
};

/// How many parallel sums a narrow tile has. Arcs add to them in turn, because an addition's latency is about
/// four times its throughput.
template <int N>
constexpr int kWays = N == 1   ? 4
                      : N <= 3 ? 2
                               : 1;

/// acc += Σ factor · x[columns[e]] for e in [begin, end); prefetches rows up to arc `last`.
template <int N, bool kPart, Factor factor, class T>
inline void add_arcs(const Columns<N, kPart>& tile, Vec (&acc)[kWays<N>][N], const T* x, Index stride,
                     const VertexId* columns, Index begin, Index end, Index last, const Real* values) {
  const auto add = [&](Vec(&sum)[N], Index e) __attribute__((always_inline)) {
    const Index ahead = e + kAhead < last ? e + kAhead : last;
    tile.prefetch(x + columns[ahead] * stride);
    const VertexId j = columns[e];
    const T* row = x + j * stride;
    for (int k = 0; k < N; ++k) {
      if constexpr (factor == Factor::kOne) sum[k] += tile.get(row, k);
      if constexpr (factor == Factor::kColumn) sum[k] += tile.get(row, k) * values[j];
      if constexpr (factor == Factor::kValue) sum[k] += tile.get(row, k) * values[e];
    }
  };
  Index e = begin;
  for (; e + kWays<N> <= end; e += kWays<N>) {
    for (int way = 0; way < kWays<N>; ++way) add(acc[way], e + way);
  }
  for (; e < end; ++e) add(acc[0], e);
}

/// The arcs of one row that aren't dropped, with their values, in blocks.
struct Block {
  const VertexId* columns;
  Real values[kBlock];
  Index count;

  void fill(const Spmm& s, Index row, Index begin, Index end) {
    columns = s.columns + begin;
    count = end - begin;
    for (Index e = 0; e < count; ++e) values[e] = s.weights == nullptr ? Real(1) : Real(s.weights[begin + e]);
    if (s.col_scale != nullptr) {
      for (Index e = 0; e < count; ++e) values[e] *= s.col_scale[columns[e]];
    }
    if (s.arc_mask != ArcMask::kNone) drop(s, row, begin, end);
  }

 private:
  VertexId kept_[kBlock];

  void drop(const Spmm& s, Index row, Index begin, Index end) {
    std::uint32_t bits[kBlock];
    draw_mask(s, row, begin, end, bits);
    Index kept = 0;
    for (Index e = 0; e < count; ++e) {
      kept_[kept] = columns[e];
      values[kept] = s.mask.scale * values[e];
      kept += bits[e] >= s.mask.threshold ? 1 : 0;  // no branch: the draw cannot be predicted
    }
    columns = kept_;
    count = kept;
  }

  static void draw_mask(const Spmm& s, Index row, Index begin, Index end, std::uint32_t* bits) {
    if (s.arc_mask == ArcMask::kByRow) {
      const std::uint64_t key = row_key(s.mask, row);
      for (Index e = begin; e < end; ++e) bits[e - begin] = draw(key, std::uint32_t(s.columns[e]));
    } else if (s.arc_mask == ArcMask::kByColumn) {
      for (Index e = begin; e < end; ++e) {
        bits[e - begin] = draw(row_key(s.mask, s.columns[e]), std::uint32_t(s.first_row + row));
      }
    }
  }
};

/// Writes a row's sums to its columns of `out`, and applies the finish. Halves are rounded once, after the
/// finish.
template <int N, bool kPart>
inline void put_sums(const Spmm& s, Index row, const Columns<N, kPart>& tile, const Vec (&sums)[N]) {
  const bool finishes = !s.finish.nothing && !s.finish.layer_norm;
  const Index stop = tile.first + (kPart ? (N - 1) * kLanes + tile.part : N * kLanes);
  if (s.out.halves == nullptr) {
    Real* out = s.out.row(row);
    for (int k = 0; k < N; ++k) tile.put(out, k, s.accumulate ? tile.get(out, k) + sums[k] : sums[k]);
    if (finishes) finish(s.finish, s.out, row, row + 1, tile.first, stop);
    return;
  }
  Real reals[N * kLanes];
  const Out whole{reals - tile.first, 0};  // with a stride of 0, every row is this one
  Bfloat16* out = s.out.halves + row * s.out.stride;
  for (int k = 0; k < N; ++k) tile.put(whole.data, k, s.accumulate ? tile.get(out, k) + sums[k] : sums[k]);
  if (finishes) finish(s.finish, whole, row, row + 1, tile.first, stop);
  for (int k = 0; k < N; ++k) tile.put(out, k, tile.get(whole.data, k));
}

template <int N, bool kPart, Factor factor, class T>
void rows(const Spmm& s, const T* x, Index begin, Index end, Columns<N, kPart> tile) {
  const Index last_arc = s.offsets[end] - 1, stride = s.x.stride;
  Block block;
  for (Index row = begin; row < end; ++row) {
    const Index first = s.offsets[row], stop = s.offsets[row + 1];
    if (first == stop && s.accumulate && s.finish.nothing) continue;
    Vec acc[kWays<N>][N] = {};
    if constexpr (factor == Factor::kValue) {
      for (Index e = first; e < stop; e += kBlock) {
        block.fill(s, row, e, e + kBlock < stop ? e + kBlock : stop);
        add_arcs<N, kPart, factor>(tile, acc, x, stride, block.columns, 0, block.count, block.count - 1,
                                   block.values);
      }
    } else {
      add_arcs<N, kPart, factor>(tile, acc, x, stride, s.columns, first, stop, last_arc, s.col_scale);
    }
    // a row without arcs stays 0, though its scale may be infinite
    const Real scale = s.row_scale == nullptr || first == stop ? Real(1) : s.row_scale[row];
    Vec sums[N];
    for (int k = 0; k < N; ++k) {
      sums[k] = acc[0][k];
      for (int way = 1; way < kWays<N>; ++way) sums[k] += acc[way][k];
      sums[k] *= scale;
    }
    put_sums(s, row, tile, sums);
  }
}

template <int N, bool kPart, class T>
void rows(const Spmm& s, const T* x, Index begin, Index end, Columns<N, kPart> tile) {
  if (s.weights != nullptr || s.arc_mask != ArcMask::kNone)
    return rows<N, kPart, Factor::kValue>(s, x, begin, end, tile);
  if (s.col_scale != nullptr) return rows<N, kPart, Factor::kColumn>(s, x, begin, end, tile);
  rows<N, kPart, Factor::kOne>(s, x, begin, end, tile);
}

template <int N, bool kPart>
void rows(const Spmm& s, Index begin, Index end, Columns<N, kPart> tile) {
  if (s.x.halves != nullptr) return rows(s, s.x.halves, begin, end, tile);
  rows(s, s.x.data, begin, end, tile);
}

/// Turns the number of remaining columns (at most a tile's) into a template argument.
template <int N>
void rows(const Spmm& s, Index begin, Index end, Index first, Index count) {
  if (count > (N - 1) * kLanes || N == 1) {
    if (count == N * kLanes) return rows(s, begin, end, Columns<N, false>{first, 0});
    return rows(s, begin, end, Columns<N, true>{first, int(count - (N - 1) * kLanes)});
  }
  if constexpr (N > 1) rows<N - 1>(s, begin, end, first, count);
}

}  // namespace

void spmm(const Spmm& s, Index begin, Index end, Index col_begin, Index col_end) {
  for (Index c = col_begin; c < col_end; c += kTile * kLanes) {
    rows<kTile>(s, begin, end, c, col_end - c < kTile * kLanes ? col_end - c : kTile * kLanes);
  }
  // needs all of the row's tiles
  if (s.finish.layer_norm) finish(s.finish, s.out, begin, end, col_begin, col_end);
}

}  // namespace atl::simd::ATOLL_LEVEL
