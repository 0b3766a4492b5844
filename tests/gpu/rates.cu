// The rates of engine/tensor/rates.h, and dense products of other shapes, on a GPU: what a topology file's
// `compute.rates` holds.
//     nvcc -O3 -arch=native -o rates tests/gpu/rates.cu -lcublas && ./rates
// Each figure is the median of many runs, timed by the device's own events after a warm-up; results are
// checked against the host's.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kRuns = 15;

void must(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::exit(1);
}
#define CUDA(call) must((call) == cudaSuccess, #call)
#define CUBLAS(call) must((call) == CUBLAS_STATUS_SUCCESS, #call)

/// Device memory of `count` values, filled by `make(i)`.
template <class T, class F>
T* filled(size_t count, F make) {
  std::vector<T> host(count);
  for (size_t i = 0; i < count; ++i) host[i] = make(i);
  T* device = nullptr;
  CUDA(cudaMalloc(&device, count * sizeof(T)));
  CUDA(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

unsigned random_of(size_t i) {  // the same every time
  unsigned long long z = (i + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return unsigned(z >> 33);
}
float unit(size_t i) {
  return float(random_of(i)) / 2147483648.0f - 0.5f;
}

template <class F>
double median_seconds(F run) {
  cudaEvent_t begin, end;
  CUDA(cudaEventCreate(&begin)), CUDA(cudaEventCreate(&end));
  std::vector<float> times;
  for (int i = 0; i < kRuns + 3; ++i) {
    CUDA(cudaEventRecord(begin));
    run();
    CUDA(cudaEventRecord(end)), CUDA(cudaEventSynchronize(end));
    float ms = 0;
    CUDA(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 3) times.push_back(ms);
  }
  CUDA(cudaGetLastError());
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2] * 1e-3;
}

__global__ void triad(const float4* b, const float4* c, float s, float4* a, size_t n) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += size_t(gridDim.x) * blockDim.x) {
    const float4 x = b[i], y = c[i];
    a[i] = make_float4(x.x + s * y.x, x.y + s * y.y, x.z + s * y.z, x.w + s * y.w);
  }
}

/// Sixteen lanes read a row of 256 bytes; a half-warp's sum stands in for what an aggregation does with it.
__global__ void gather(const float4* rows, const int* ids, size_t count, float* sums) {
  const size_t lane = threadIdx.x & 15, groups = size_t(gridDim.x) * blockDim.x / 16;
  float sum = 0;
  for (size_t g = (blockIdx.x * size_t(blockDim.x) + threadIdx.x) / 16; g < count; g += groups) {
    const float4 x = rows[size_t(ids[g]) * 16 + lane];
    sum += x.x + x.y + x.z + x.w;
  }
  sums[blockIdx.x * size_t(blockDim.x) + threadIdx.x] = sum;
}

double triad_rate() {
  const size_t n = size_t(256) << 20;  // floats of an array: 1 GiB
  float* b = filled<float>(n, unit);
  float* c = filled<float>(n, [](size_t i) { return unit(i + 7); });
  float* a = nullptr;
  CUDA(cudaMalloc(&a, n * 4));
  CUDA(cudaMemset(a, 0xFF, n * 4));
  const double seconds =
      median_seconds([&] { triad<<<132 * 16, 256>>>((float4*)b, (float4*)c, 3, (float4*)a, n / 4); });
  std::vector<float> got(1 << 16);
  CUDA(cudaMemcpy(got.data(), a + n - got.size(), got.size() * 4, cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < got.size(); ++i) {
    const size_t at = n - got.size() + i;
    must(std::fabs(got[i] - (unit(at) + 3 * unit(at + 7))) < 1e-5, "triad's result");
  }
  CUDA(cudaFree(a)), CUDA(cudaFree(b)), CUDA(cudaFree(c));
  return 3.0 * double(n) * 4 / seconds;
}

double gather_rate() {
  const size_t rows = size_t(4) << 20, reads = size_t(16) << 20;  // 1 GiB of rows, 4 GiB read
  float* matrix = filled<float>(rows * 64, [](size_t i) { return float(random_of(i) & 7); });
  int* ids = filled<int>(reads, [&](size_t i) { return int(random_of(i + 99) % rows); });
  const int blocks = 132 * 16, threads = 256;
  float* sums = nullptr;
  CUDA(cudaMalloc(&sums, size_t(blocks) * threads * 4));
  const double seconds =
      median_seconds([&] { gather<<<blocks, threads>>>((float4*)matrix, ids, reads, sums); });
  std::vector<float> got(size_t(blocks) * threads);
  CUDA(cudaMemcpy(got.data(), sums, got.size() * 4, cudaMemcpyDeviceToHost));
  double sum = 0, expected = 0;
  for (float each : got) sum += each;
  for (size_t i = 0; i < reads; ++i)
    for (size_t c = 0; c < 64; ++c) expected += random_of((random_of(i + 99) % rows) * 64 + c) & 7;
  must(std::fabs(sum / expected - 1) < 1e-6, "gather's result");
  CUDA(cudaFree(matrix)), CUDA(cudaFree(ids)), CUDA(cudaFree(sums));
  return double(reads) * (256 + 4) / seconds;
}

/// (n, k) · (k, m), row-major, on a fresh one of several left sides each time, as an epoch's layers find
/// them.
double product_rate(cublasHandle_t handle, int n, int k, int m) {
  const size_t sides = std::clamp<size_t>((size_t(1) << 28) / (size_t(n) * k), 1, 64);
  float* x = filled<float>(sides * size_t(n) * k, unit);
  float* w = filled<float>(size_t(k) * m, [](size_t i) { return unit(i + 3); });
  float* y = nullptr;
  CUDA(cudaMalloc(&y, size_t(n) * m * 4));
  size_t turn = 0;
  const float one = 1, zero = 0;
  const double seconds = median_seconds([&] {
    for (int i = 0; i < 8; ++i)
      CUBLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, w, m,
                         x + (turn++ % sides) * size_t(n) * k, k, &zero, y, m));
  });
  std::vector<float> got(m);
  CUDA(cudaMemcpy(got.data(), y, m * 4, cudaMemcpyDeviceToHost));
  const size_t first = (turn - 1) % sides * size_t(n) * k;
  for (int c = 0; c < m; ++c) {
    double sum = 0;
    for (int i = 0; i < k; ++i) sum += double(unit(first + i)) * unit(size_t(i) * m + c + 3);
    must(std::fabs(got[c] - sum) < 2e-2 * std::sqrt(double(k)) * 0.1, "a product's result");
  }
  CUDA(cudaFree(x)), CUDA(cudaFree(w)), CUDA(cudaFree(y));
  return 8 * 2.0 * n * k * m / seconds;
}

}  // namespace

int main() {
  cudaDeviceProp device;
  CUDA(cudaGetDeviceProperties(&device, 0));
  std::printf("{\"device\": \"%s\", \"triadBytes\": %.4g, \"gatherBytes\": %.4g", device.name, triad_rate(),
              gather_rate());
  cublasHandle_t handle;
  CUBLAS(cublasCreate(&handle));
  const int shapes[][3] = {{1024, 1024, 1024}, {160, 1000, 1000},  {650, 1000, 1000},  {5200, 1000, 1000},
                           {1000, 100, 100},   {10000, 100, 100},  {100000, 100, 100}, {100000, 64, 64},
                           {100000, 128, 128}, {100000, 256, 256}, {100000, 602, 256}};
  for (const bool tf32 : {false, true}) {
    CUBLAS(cublasSetMathMode(handle, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
    std::printf(", \"%s\": {", tf32 ? "productFlopsTf32" : "productFlops");
    for (const auto& s : shapes)
      std::printf("%s\"%d x %d x %d\": %.4g", &s == shapes ? "" : ", ", s[0], s[1], s[2],
                  product_rate(handle, s[0], s[1], s[2]));
    std::printf("}");
  }
  std::printf("}\n");
}
