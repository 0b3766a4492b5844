#include "tensor/cuda/finished_products.h"

#include "tensor/cuda/stream.h"

namespace atl::cuda {
namespace {

/// The most plans that are kept. Mini-batches keep bringing new shapes; when there are this many plans, all
/// are dropped, and made again when needed.
constexpr std::size_t kMostPlans = 1024;
/// A bias's alignment is known to cuBLASLt only by its address, and its kernels read 16 bytes at a time.
constexpr std::uintptr_t kBiasAlignment = 16;

/// The manual allows a handle of cuBLAS instead of one of cuBLASLt.
cublasLtHandle_t light(cublasHandle_t handle) {
  return reinterpret_cast<cublasLtHandle_t>(handle);
}

/// The alignment of an address in bytes, a power of two. It is at most 64, because all memory of a device is
/// aligned to that (tensor/memory.h). So it depends only on a view's place in its matrix.
Index alignment_of(const void* address) {
  Index alignment = 64;
  while (reinterpret_cast<std::uintptr_t>(address) % std::uintptr_t(alignment) != 0) alignment /= 2;
  return alignment;
}

cudaDataType_t type_of(Storage storage) {
  return storage == Storage::kHalves ? CUDA_R_16BF : CUDA_R_32F;
}

template <class T>
void set(FinishedProduct& product, cublasLtMatmulDescAttributes_t what, T value) {
  ATOLL_MUST(cublasLtMatmulDescSetAttribute(&product.operation, what, &value, sizeof value));
}
template <class T>
void set(cublasLtMatmulPreferenceOpaque_t& preference, cublasLtMatmulPreferenceAttributes_t what, T value) {
  ATOLL_MUST(cublasLtMatmulPreferenceSetAttribute(&preference, what, &value, sizeof value));
}

}  // namespace

void finish_product_now(const Target& on, const FinishedProduct& product) {
  FinishedProduct p = product;  // a copy, because cuBLASLt takes descriptors as non-const
  const float one = 1, beta = p.accumulates != 0 ? 1 : 0;
  ATOLL_MUST(cublasLtMatmul(light(on.cublas), &p.operation, &one, p.first, &p.first_layout, p.second,
                            &p.second_layout, &beta, p.to, &p.to_layout, p.to, &p.to_layout, &p.algorithm,
                            p.room, p.room_bytes, on.stream));
}

FinishedProducts::FinishedProducts(Stream& stream) : stream_(stream) {}

std::optional<FinishedProduct> FinishedProducts::plan(ConstMatrixView a, ConstMatrixView w, MatrixView out,
                                                      bool accumulates, bool relu) {
  const Shape shape{.m = out.cols,
                    .n = out.rows,
                    .k = a.cols,
                    .first_distance = row_distance(w),
                    .second_distance = row_distance(a),
                    .to_distance = row_distance(out),
                    .first_alignment = alignment_of(w.address()),
                    .second_alignment = alignment_of(a.address()),
                    .to_alignment = alignment_of(out.address()),
                    .of = a.storage(),
                    .into = out.storage(),
                    .relu = relu};
  auto at = plans_.find(shape);
  if (at == plans_.end()) {
    if (plans_.size() >= kMostPlans) plans_.clear();
    at = plans_.emplace(shape, planned(shape)).first;
  }
  std::optional<FinishedProduct> product = at->second;
  if (!product) return product;
  product->first = w.address();
  product->second = a.address();
  product->to = const_cast<void*>(out.address());
  product->accumulates = accumulates ? 1 : 0;
  if (product->room_bytes > 0) product->room = stream_.product_room();
  return product;
}

/// A plan without addresses.
std::optional<FinishedProduct> FinishedProducts::planned(const Shape& shape) const {
  FinishedProduct p;
  const cudaDataType_t of = type_of(shape.of), into = type_of(shape.into);
  ATOLL_MUST(cublasLtMatrixLayoutInit(&p.first_layout, of, std::uint64_t(shape.m), std::uint64_t(shape.k),
                                      shape.first_distance));
  ATOLL_MUST(cublasLtMatrixLayoutInit(&p.second_layout, of, std::uint64_t(shape.k), std::uint64_t(shape.n),
                                      shape.second_distance));
  ATOLL_MUST(cublasLtMatrixLayoutInit(&p.to_layout, into, std::uint64_t(shape.m), std::uint64_t(shape.n),
                                      shape.to_distance));
  ATOLL_MUST(cublasLtMatmulDescInit(&p.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  set(p, CUBLASLT_MATMUL_DESC_EPILOGUE,
      std::uint32_t(shape.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS));
  set(p, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, std::int32_t(into));
  // This address, too, influences the choice of an algorithm. So the least aligned one is given, whichever
  // bias comes first.
  set_bias(p, reinterpret_cast<const void*>(kBiasAlignment));

  cublasLtMatmulPreferenceOpaque_t preference{};
  ATOLL_MUST(cublasLtMatmulPreferenceInit(&preference));
  set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t(stream_.product_room_bytes()));
  // A sum that is cut into pieces is put together in float32, never in halves.
  set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      std::uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t(shape.first_alignment));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t(shape.second_alignment));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::uint32_t(shape.to_alignment));
  set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::uint32_t(shape.to_alignment));

  cublasLtMatmulHeuristicResult_t found{};
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(light(stream_.cublas()), &p.operation, &p.first_layout, &p.second_layout,
                                     &p.to_layout, &p.to_layout, &preference, 1, &found, &count);
  // cuBLASLt refuses in several ways. cuBLAS with a pass over the rows always works.
  if (status != CUBLAS_STATUS_SUCCESS || count < 1 || found.state != CUBLAS_STATUS_SUCCESS) return {};
  p.algorithm = found.algo;
  p.room_bytes = found.workspaceSize;
  return p;
}

void FinishedProducts::set_bias(FinishedProduct& product, const void* bias) {
  ATOLL_CHECK(has_place_for_bias(bias), "a bias at {}", bias);
  set(product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
}

bool FinishedProducts::has_place_for_bias(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kBiasAlignment == 0;
}

}  // namespace atl::cuda
