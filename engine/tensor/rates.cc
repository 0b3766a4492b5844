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

/// Seconds at the rate that kernels reach, if it has been measured.
double seconds_at(double work, double by_kernels, double otherwise) {
  return work > 0 ? work / (by_kernels > 0 ? by_kernels : otherwise) : 0;
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
  double found = 0;  // share of the matrix that the caches so far hold
  for (std::size_t c = 0; c < kCacheBytes.size() && found < 1; ++c) {
    const double here = std::min(1.0, kCacheBytes[c] / of);
    work.cached[c].gathered = bytes * (here - found);
    found = here;
  }
  work.gathered_bytes = bytes * (1 - found);
  return work;
}

double product_seconds(const ComputeWork& work, const MachineRates& rates) {
  const double reals = rates.kernel_flops > 0 ? rates.kernel_flops : rates.product_flops;
  return seconds_at(work.product_flops, reals, 0) + seconds_at(work.half_flops, rates.half_flops, reals);
}

double gather_seconds(const ComputeWork& work, const MachineRates& rates) {
  double sum = seconds_at(work.gathered_bytes, rates.memory.gathered, rates.gather_bytes);
  for (std::size_t c = 0; c < work.cached.size(); ++c)
    sum += seconds_at(work.cached[c].gathered, rates.caches[c].gathered, rates.gather_bytes);
  return sum;
}

double stream_seconds(const ComputeWork& work, const MachineRates& rates) {
  double sum = seconds_at(work.streamed_bytes, rates.memory.streamed, rates.triad_bytes);
  for (std::size_t c = 0; c < work.cached.size(); ++c)
    sum += seconds_at(work.cached[c].streamed, rates.caches[c].streamed, rates.triad_bytes);
  return sum;
}

}  // namespace atl
