// Adds up kernels' work, and the time that it takes.
#include "tensor/rates.h"

#include <algorithm>

namespace atl {
namespace {

/// The entry of the smallest cache that holds a matrix of `bytes` bytes; null: none does.
KernelBytes* cache_of(ByCache& caches, double bytes) {
  const auto* const least = std::ranges::lower_bound(kCacheBytes, bytes);
  return least == kCacheBytes.end() ? nullptr : &caches[std::size_t(least - kCacheBytes.begin())];
}

/// The rate that kernels reach, if it has been measured.
double reached(double by_kernels, double otherwise) {
  return by_kernels > 0 ? by_kernels : otherwise;
}

}  // namespace

double ComputeWork::all_gathered() const {
  double sum = gathered_bytes;
  for (const KernelBytes& cache : cached) sum += cache.gathered;
  return sum;
}

double ComputeWork::all_streamed() const {
  double sum = streamed_bytes;
  for (const KernelBytes& cache : cached) sum += cache.streamed;
  return sum;
}

ComputeWork& ComputeWork::operator+=(const ComputeWork& more) {
  product_flops += more.product_flops;
  half_flops += more.half_flops;
  gathered_bytes += more.gathered_bytes;
  streamed_bytes += more.streamed_bytes;
  calls += more.calls;
  for (std::size_t c = 0; c < cached.size(); ++c) {
    cached[c].gathered += more.cached[c].gathered;
    cached[c].streamed += more.cached[c].streamed;
  }
  return *this;
}

ComputeWork streamed(double bytes, double of) {
  ComputeWork work;
  KernelBytes* const cache = cache_of(work.cached, of);
  (cache != nullptr ? cache->streamed : work.streamed_bytes) = bytes;
  return work;
}

ComputeWork gathered(double bytes, double of) {
  ComputeWork work;
  KernelBytes* const cache = cache_of(work.cached, of);
  (cache != nullptr ? cache->gathered : work.gathered_bytes) = bytes;
  return work;
}

double product_seconds(const ComputeWork& work, const MachineRates& rates) {
  const double reals = reached(rates.kernel_flops, rates.product_flops);
  return work.product_flops / reals + work.half_flops / reached(rates.half_flops, reals);
}

double gather_seconds(const ComputeWork& work, const MachineRates& rates) {
  double sum = work.gathered_bytes / reached(rates.memory.gathered, rates.gather_bytes);
  for (std::size_t c = 0; c < work.cached.size(); ++c)
    sum += work.cached[c].gathered / reached(rates.caches[c].gathered, rates.gather_bytes);
  return sum;
}

double stream_seconds(const ComputeWork& work, const MachineRates& rates) {
  double sum = work.streamed_bytes / reached(rates.memory.streamed, rates.triad_bytes);
  for (std::size_t c = 0; c < work.cached.size(); ++c)
    sum += work.cached[c].streamed / reached(rates.caches[c].streamed, rates.triad_bytes);
  return sum;
}

}  // namespace atl
