// Packs: V adjacent columns that are read and written together, of rows stored as Reals or in halves.
#pragma once

#include <cstdint>

#include "tensor/cuda/launch.h"

namespace atl::cuda {

template <int V, class T = Real>
struct alignas(V * sizeof(T) <= 16 ? V * sizeof(T) : 16) Pack {
  T at[V];

  __device__ Real real(int v) const { return at[v]; }
};
/// Halves in whole words, which one instruction reads.
template <int V>
struct alignas(2 * V) Pack<V, Bfloat16> {
  std::uint32_t words[V / 2];

  __device__ Real real(int v) const {
    const std::uint32_t bits = v % 2 == 0 ? words[v / 2] << 16 : words[v / 2] & 0xffff0000u;
    return Real(std::bit_cast<float>(bits));
  }
};
template <>
struct Pack<1, Bfloat16> {
  Bfloat16 half;

  __device__ Real real(int) const { return Real(to_float(half)); }
};

template <int V>
__device__ Pack<V, Bfloat16> in_halves(const Pack<V>& reals) {
  Pack<V, Bfloat16> pack;
  if constexpr (V == 1) pack.half = to_bfloat16(float(reals.at[0]));
  if constexpr (V > 1)
#pragma unroll
    for (int v = 0; v < V; v += 2)
      pack.words[v / 2] = std::uint32_t(to_bfloat16(float(reals.at[v])).bits) |
                          std::uint32_t(to_bfloat16(float(reals.at[v + 1])).bits) << 16;
  return pack;
}

template <int V, class T>
__device__ Pack<V, T> load_pack(const T* from) {
  return *reinterpret_cast<const Pack<V, T>*>(from);
}
template <int V, class T>
__device__ void store_pack(T* to, const Pack<V, T>& pack) {
  *reinterpret_cast<Pack<V, T>*>(to) = pack;
}

/// Columns c … c + V − 1 of a row; kMixed as value_at.
template <int V, bool kMixed, class M>
__device__ Pack<V> load_reals(const M& m, Index r, Index c) {
  const Index i = r * m.stride + c;
  if constexpr (kMixed)
    if (m.halves != nullptr) {
      const auto halves = load_pack<V, Bfloat16>(m.halves + i);
      Pack<V> pack;
#pragma unroll
      for (int v = 0; v < V; ++v) pack.at[v] = halves.real(v);
      return pack;
    }
  return load_pack<V, Real>(m.data + i);
}
template <int V, bool kMixed, class M>
__device__ void store_reals(const M& m, Index r, Index c, const Pack<V>& pack) {
  const Index i = r * m.stride + c;
  if constexpr (kMixed)
    if (m.halves != nullptr) return store_pack<V>(m.halves + i, in_halves(pack));
  store_pack<V>(m.data + i, pack);
}

/// Whether `columns` columns of all these matrices can be read and written in packs of V.
template <class... M>
bool in_packs(int V, Index columns, const M&... matrices) {
  const auto good = [V](const auto& m) {
    if (m.halves != nullptr)
      return reinterpret_cast<std::uintptr_t>(m.halves) % (2 * unsigned(V)) == 0 && m.stride % V == 0;
    return reinterpret_cast<std::uintptr_t>(m.data) % 16 == 0 && m.stride % 4 == 0;
  };
  return columns % V == 0 && (good(matrices) && ...);
}

}  // namespace atl::cuda
