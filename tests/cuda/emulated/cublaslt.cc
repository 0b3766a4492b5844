// cuBLASLt, emulated by plain loops. Its ReLU turns a NaN into 0, because the manual doesn't promise to pass
// it on.
#include <cublasLt.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "products.h"
#include "streams.h"

namespace {

using atl::Bfloat16;

std::atomic<std::int64_t> heuristics{0}, products{0};
std::atomic<bool> has_none{false};

// What opaque descriptors hold, beside zeros.

struct Layout {
  std::uint64_t made, type, rows, cols;
  std::int64_t distance;
  bool operator==(const Layout&) const = default;
};
struct Operation {
  std::uint64_t made, epilogue, bias_type;
  const void* bias;
};
struct Preference {
  std::uint64_t made, workspace, reduction;
  std::uint32_t alignments[4];  // of A, B, C, D
};
/// Which bytes of a matrix and of the bias an algorithm reads at once, and what it was chosen for.
struct Algorithm {
  std::uint64_t shape, workspace;
  std::uint32_t alignments[4];
  std::uint64_t of_bias;
};
constexpr std::uint64_t kMade = 0x6d616465;
constexpr std::uintptr_t kDemandedAlignment = 16, kRoomAlignment = 64;  // a real GPU's memory has 256

template <class T, class Opaque>
T read(const Opaque* opaque) {
  static_assert(sizeof(T) <= sizeof(Opaque));
  T own;
  std::memcpy(&own, opaque, sizeof own);
  return own;
}
template <class T, class Opaque>
void write(Opaque* opaque, const T& own) {
  *opaque = {};
  std::memcpy(opaque, &own, sizeof own);
}
template <class T>
bool take(T& to, const void* value, std::size_t bytes) {
  if (bytes == sizeof to) std::memcpy(&to, value, bytes);
  return bytes == sizeof to;
}
bool is_aligned(const void* address, std::uintptr_t to) {
  return to > 0 && reinterpret_cast<std::uintptr_t>(address) % to == 0;
}

/// As the address that an algorithm is asked with; none is taken for any.
std::uint64_t alignment_of_bias(const void* address) {
  std::uint64_t alignment = 256;
  while (!is_aligned(address, alignment)) alignment /= 2;
  return alignment;
}

/// The manual's combinations: A and B alike, D of halves from halves alone, a bias of D's type.
bool is_combination(const Layout& a, const Layout& b, const Layout& d, std::uint64_t bias_type) {
  const bool halves = a.type == CUDA_R_16BF;
  return (halves || a.type == CUDA_R_32F) && b.type == a.type &&
         (d.type == CUDA_R_32F || (halves && d.type == CUDA_R_16BF)) && bias_type == d.type;
}

bool is_product(const Layout& a, const Layout& b, const Layout& d) {
  for (const Layout& each : {a, b, d})
    if (each.made != kMade || each.rows == 0 || each.cols == 0 || each.distance < std::int64_t(each.rows))
      return false;
  return a.rows == d.rows && b.cols == d.cols && a.cols == b.rows;
}

std::uint64_t mixed(const Layout& a, const Layout& b, const Layout& d, const Operation& operation) {
  std::uint64_t hash = operation.epilogue;
  for (const Layout& each : {a, b, d})
    for (const std::uint64_t part : {each.type, each.rows, each.cols, std::uint64_t(each.distance)})
      hash = (hash ^ part) * 0x9e3779b97f4a7c15ull;
  return hash;
}

/// Few results of long sums: pieces of each, which are put together in the workspace.
std::uint64_t workspace_for(const Layout& a, const Layout& d) {
  return a.cols >= 400 && a.cols > d.rows * d.cols ? d.rows * d.cols * sizeof(float) : 0;
}

/// On the device, when the stream has come so far.
struct Work {
  Layout a_layout, b_layout, d_layout;
  Operation operation;
  float one, beta;
  const void *a, *b;
  void *d, *workspace;
  std::size_t workspace_bytes;

  template <class In, class Out>
  void run() const {
    if (workspace_bytes > 0) std::memset(workspace, 0xa5, workspace_bytes);
    const auto* const bias = static_cast<const Out*>(operation.bias);
    const bool relu = operation.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS;
    const auto finish = [=](float value, std::ptrdiff_t row) {
      const float sum = value + emulated::number(bias[row]);
      return !relu || sum > 0 ? sum : 0.0f;
    };
    emulated::multiply(std::ptrdiff_t(d_layout.rows), std::ptrdiff_t(d_layout.cols),
                       std::ptrdiff_t(a_layout.cols), one,
                       emulated::Operand<In>{static_cast<const In*>(a), false, a_layout.distance},
                       emulated::Operand<In>{static_cast<const In*>(b), false, b_layout.distance}, beta,
                       static_cast<Out*>(d), d_layout.distance, finish);
  }
  void run() const {
    if (a_layout.type == CUDA_R_32F) return run<float, float>();
    d_layout.type == CUDA_R_32F ? run<Bfloat16, float>() : run<Bfloat16, Bfloat16>();
  }
};

}  // namespace

namespace emulated {

LightCalls light_calls() {
  return {heuristics, products};
}
void have_no_algorithm(bool none) {
  has_none = none;
}

}  // namespace emulated

cublasStatus_t cublasLtMatrixLayoutInit(cublasLtMatrixLayout_t layout, cudaDataType_t type,
                                        std::uint64_t rows, std::uint64_t cols, std::int64_t distance) {
  write(layout, Layout{kMade, std::uint64_t(type), rows, cols, distance});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescInit(cublasLtMatmulDesc_t operation, cublasComputeType_t compute,
                                      cudaDataType_t scale) {
  if (compute != CUBLAS_COMPUTE_32F || scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  write(operation, Operation{kMade, 1, ~std::uint64_t(0), nullptr});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t which, const void* value,
                                              std::size_t bytes) {
  auto own = read<Operation>(operation);
  std::uint32_t word = 0;
  const bool is_pointer = which == CUBLASLT_MATMUL_DESC_BIAS_POINTER;
  if (own.made != kMade || !(is_pointer ? take(own.bias, value, bytes) : take(word, value, bytes)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (which == CUBLASLT_MATMUL_DESC_EPILOGUE) own.epilogue = word;
  if (which == CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE) own.bias_type = word;
  write(operation, own);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t preference) {
  write(preference, Preference{kMade, 0, 7, {256, 256, 256, 256}});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void* value, std::size_t bytes) {
  auto own = read<Preference>(preference);
  std::uint32_t word = 0;
  const bool is_size = which == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
  if (own.made != kMade || !(is_size ? take(own.workspace, value, bytes) : take(word, value, bytes)))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (which == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) own.reduction = word;
  if (which >= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES)
    own.alignments[which - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES] = word;
  write(preference, own);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  const auto left = read<Layout>(a), right = read<Layout>(b), to = read<Layout>(d);
  const auto what = read<Operation>(operation);
  const auto wish = read<Preference>(preference);
  *found = 0;
  if (handle == nullptr || wanted < 1 || what.made != kMade || wish.made != kMade ||
      !is_product(left, right, to) || read<Layout>(c) != to)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (emulated::unsafe_in_capture()) emulated::end("cuBLASLt is asked for an algorithm within a capture");
  ++heuristics;
  if (what.epilogue != CUBLASLT_EPILOGUE_BIAS && what.epilogue != CUBLASLT_EPILOGUE_RELU_BIAS)
    emulated::end("an epilogue that isn't played");
  const std::uint64_t workspace = workspace_for(left, to);
  const std::uint64_t of_bias = alignment_of_bias(what.bias);
  if (has_none || !is_combination(left, right, to, what.bias_type) || of_bias < kDemandedAlignment ||
      workspace > wish.workspace || wish.reduction != CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  Algorithm algorithm{mixed(left, right, to, what), workspace, {}, of_bias};
  std::copy(wish.alignments, wish.alignments + 4, algorithm.alignments);
  results[0] = {{}, workspace, CUBLAS_STATUS_SUCCESS, 1, {}};
  write(&results[0].algo, algorithm);
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation, const void* one,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t c_layout, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  if (c != d || algorithm == nullptr)
    emulated::end("C beside D, or a product without an algorithm, isn't played");
  const auto chosen = read<Algorithm>(algorithm);
  Work work{read<Layout>(a_layout),
            read<Layout>(b_layout),
            read<Layout>(d_layout),
            read<Operation>(operation),
            *static_cast<const float*>(one),
            *static_cast<const float*>(beta),
            a,
            b,
            d,
            workspace,
            std::size_t(chosen.workspace)};
  if (handle == nullptr || !emulated::is_this_threads(stream) || read<Layout>(c_layout) != work.d_layout ||
      chosen.shape != mixed(work.a_layout, work.b_layout, work.d_layout, work.operation) ||
      !is_combination(work.a_layout, work.b_layout, work.d_layout, work.operation.bias_type) ||
      workspace_bytes < chosen.workspace || (chosen.workspace > 0 && !is_aligned(workspace, kRoomAlignment)))
    return CUBLAS_STATUS_INVALID_VALUE;
  const void* const operands[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (!is_aligned(operands[i], chosen.alignments[i]))
      emulated::end("an operand of cuBLASLt isn't aligned as its algorithm was told");
  if (!is_aligned(work.operation.bias, chosen.of_bias))
    emulated::end("a bias isn't aligned as the one that the algorithm was asked for with");
  if (emulated::gpu_of(work.operation.bias) < 0) emulated::end("a bias isn't in a GPU's memory");
  ++products;
  emulated::bring_near(work.a), emulated::bring_near(work.b), emulated::bring_near(work.d);
  emulated::bring_near(work.operation.bias), emulated::bring_near(work.workspace);
  emulated::give(stream, [work] { work.run(); });
  return CUBLAS_STATUS_SUCCESS;
}
