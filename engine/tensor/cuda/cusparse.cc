#include "tensor/cuda/cusparse.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "tensor/buffer.h"
#include "tensor/copies.h"
#include "tensor/cuda/cusparse_library.h"
#include "tensor/cuda/stream.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

constexpr auto kPlain = CUSPARSE_OPERATION_NON_TRANSPOSE;
constexpr auto kSameBits = CUSPARSE_SPMM_CSR_ALG3;  // the only CSR algorithm with the same bits in every run
constexpr float kOne = 1, kZero = 0;

bool same_arcs(const Arcs& a, const Arcs& b) {
  return a.csr.rows == b.csr.rows && a.csr.cols == b.csr.cols && a.csr.offsets == b.csr.offsets &&
         a.csr.columns == b.csr.columns && a.csr.weights == b.csr.weights && a.row_scale == b.row_scale &&
         a.col_scale == b.col_scale;
}

}  // namespace

/// A stream's handle of cuSPARSE.
class CusparseHandle {
 public:
  CusparseHandle(const SparseLibrary& library, cudaStream_t stream) : calls(library) {
    must(calls.create(&handle_), "cusparseCreate");
    must(calls.set_stream(handle_, stream), "cusparseSetStream");
  }
  ~CusparseHandle() {
    if (handle_ != nullptr) calls.destroy(handle_);
  }
  CusparseHandle(const CusparseHandle&) = delete;
  CusparseHandle& operator=(const CusparseHandle&) = delete;

  cusparseHandle_t get() const { return handle_; }
  void must(cusparseStatus_t status, const char* call) const {
    if (status != CUSPARSE_STATUS_SUCCESS) fail("device cuda: {}: {}", call, calls.error_string(status));
  }

  const SparseLibrary& calls;

 private:
  cusparseHandle_t handle_ = nullptr;
};

namespace {

/// The dense operands of a call: descriptors of a few bytes in the host's memory.
struct Dense {
  Dense(const CusparseHandle& handle, ConstMatrixView x_, MatrixView out_) : calls(handle.calls) {
    handle.must(calls.create_read(&x, x_.rows, x_.cols, x_.stride, x_.data, CUDA_R_32F, CUSPARSE_ORDER_ROW),
                "cusparseCreateConstDnMat");
    handle.must(calls.create_written(&out, out_.rows, out_.cols, out_.stride, out_.data, CUDA_R_32F,
                                     CUSPARSE_ORDER_ROW),
                "cusparseCreateDnMat");
  }
  ~Dense() {
    if (x != nullptr) calls.destroy_dense(x);
    if (out != nullptr) calls.destroy_dense(out);
  }
  Dense(const Dense&) = delete;
  Dense& operator=(const Dense&) = delete;

  const SparseLibrary& calls;
  cusparseConstDnMatDescr_t x = nullptr;
  cusparseDnMatDescr_t out = nullptr;
};

}  // namespace

/// Arcs in cuSPARSE's form.
struct CusparseMatrix {
  explicit CusparseMatrix(const Arcs& arcs_) : arcs(arcs_) {}

  /// Returns whether cuSPARSE takes the arcs. Its manual doesn't guarantee results if a row has a column
  /// twice. Its analysis counts rows by their number of arcs. For a row with more arcs than the matrix has
  /// columns it counted beyond its workspace (compute-sanitizer on an H200, 11 rows of 27 columns, one with
  /// 100 arcs), and sums were wrong afterwards.
  bool fill(Context& ctx) {
    const CsrView& csr = arcs.csr;
    count = csr.rows == 0 || csr.offsets == nullptr ? 0 : read(ctx, csr.offsets + csr.rows);
    if (count == 0 || count > std::numeric_limits<int>::max() || count > csr.rows * csr.cols) return false;
    offsets.resize(csr.rows + 1);
    values.resize(count);
    return fill_matrix(ctx, arcs, offsets.data(), values.data());
  }

  Arcs arcs;
  Index count = 0;
  Buffer<int> offsets{Device::kCuda};
  Buffer<float> values{
      Device::kCuda};  // row_scale · col_scale · weight; if one is 0, an infinite source gives NaN
};

/// out (+)= matrix · x for rows of one width.
class CusparseProduct {
 public:
  /// `number` is unique among the stream's products.
  CusparseProduct(const CusparseHandle& handle, const CusparseMatrix& a, const SumCall& call,
                  std::uint64_t number)
      : handle_(handle), calls_(handle.calls), number_(number) {
    handle.must(calls_.create_csr(&matrix_, a.arcs.csr.rows, a.arcs.csr.cols, a.count, a.offsets.data(),
                                  a.arcs.csr.columns, a.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
                "cusparseCreateConstCsr");
    const Dense dense(handle, call.x, call.out);
    std::size_t bytes = 0;
    handle.must(calls_.workspace_bytes(handle.get(), kPlain, kPlain, &kOne, matrix_, dense.x, &kZero,
                                       dense.out, CUDA_R_32F, kSameBits, &bytes),
                "cusparseSpMM_bufferSize");
    workspace_.resize(std::max<Index>(1, Index(bytes)));
    handle.must(calls_.analyse(handle.get(), kPlain, kPlain, &kOne, matrix_, dense.x, &kZero, dense.out,
                               CUDA_R_32F, kSameBits, workspace_.data()),
                "cusparseSpMM_preprocess");
  }
  ~CusparseProduct() {
    if (matrix_ != nullptr) calls_.destroy_sparse(matrix_);
  }
  CusparseProduct(const CusparseProduct&) = delete;
  CusparseProduct& operator=(const CusparseProduct&) = delete;

  void give(Context& ctx, const SumCall& call) const {
    call_library(ctx, &CusparseProduct::run,
                 Given{this, number_, call.x, call.out, std::uint64_t(call.accumulate)});
  }

 private:
  /// Identifies a call when it is repeated. The number tells apart products that were at the same address one
  /// after the other.
  struct Given {
    const CusparseProduct* product;
    std::uint64_t number;
    ConstMatrixView x;
    MatrixView out;
    std::uint64_t accumulate;
  };
  static void run(const Target& /*on*/, const Given& given) {  // the handle has the target's stream
    const CusparseHandle& handle = given.product->handle_;
    const Dense dense(handle, given.x, given.out);
    handle.must(handle.calls.multiply(handle.get(), kPlain, kPlain, &kOne, given.product->matrix_, dense.x,
                                      given.accumulate != 0 ? &kOne : &kZero, dense.out, CUDA_R_32F,
                                      kSameBits, const_cast<std::byte*>(given.product->workspace_.data())),
                "cusparseSpMM");
  }

  const CusparseHandle& handle_;
  const SparseLibrary& calls_;  // the handle may be destroyed first
  std::uint64_t number_;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  Buffer<std::byte> workspace_{Device::kCuda};  // also holds the results of the analysis
};

/// What is made when a graph's arcs are first summed over, and kept for later sums.
struct CusparseSums::Kept final : StayingArcs {
  explicit Kept(const Arcs& arcs) : matrix(arcs) {}
  ~Kept() override { Stream::settle(); }  // calls that are held back read it
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  CusparseMatrix matrix;
  std::optional<bool> taken;                                   // set once it has been filled
  std::map<Index, std::unique_ptr<CusparseProduct>> products;  // by columns
};

std::unique_ptr<CusparseSums> CusparseSums::make(Stream& stream) {
  if constexpr (sizeof(Real) != sizeof(float)) return nullptr;
  const SparseLibrary* const library = sparse_library();
  if (library == nullptr) return nullptr;
  return std::unique_ptr<CusparseSums>(new CusparseSums(stream, *library));
}

CusparseSums::CusparseSums(Stream& stream, const SparseLibrary& library)
    : stream_(stream), handle_(std::make_unique<CusparseHandle>(library, stream.stream())) {}
CusparseSums::~CusparseSums() = default;

std::shared_ptr<const StayingArcs> CusparseSums::keep(const Arcs& arcs) {
  std::erase_if(kept_, [](const auto& each) { return each.second.expired(); });
  auto kept = std::make_shared<Kept>(arcs);
  kept_[arcs.csr.offsets] = kept;
  return kept;
}

bool CusparseSums::sum(Context& ctx, const SumCall& call) {
  const auto found = kept_.find(call.arcs.csr.offsets);
  const std::shared_ptr<Kept> kept = found == kept_.end() ? nullptr : found->second.lock();
  if (kept == nullptr || !same_arcs(kept->matrix.arcs, call.arcs) || call.out.empty()) return false;
  if (call.x.halves != nullptr || call.out.halves != nullptr) return false;
  const CusparseProduct* const product = product_of(ctx, *kept, call);
  if (product == nullptr) return false;
  product->give(ctx, call);
  cuda::apply(ctx, call.epilogue, call.out, call.out);
  return true;
}

/// Null: cuSPARSE doesn't take the arcs.
const CusparseProduct* CusparseSums::product_of(Context& ctx, Kept& kept, const SumCall& call) {
  if (kept.taken && !*kept.taken) return nullptr;
  if (const auto known = kept.products.find(call.out.cols); known != kept.products.end())
    return known->second.get();
  const Stream::AtOnce at_once(stream_);
  if (!kept.taken) kept.taken = kept.matrix.fill(ctx);
  if (!*kept.taken) return nullptr;
  auto& product = kept.products[call.out.cols];
  product = std::make_unique<CusparseProduct>(*handle_, kept.matrix, call, ++made_);
  return product.get();
}

}  // namespace atl::cuda
