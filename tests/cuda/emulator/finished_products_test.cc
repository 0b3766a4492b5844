// The calls to cuBLASLt: which products it is asked to finish, how often it is asked for an algorithm, and
// with which operands (tensor/cuda/finished_products.h).
#include "tensor/cuda/finished_products.h"

#include "emulated.h"
#include "tensor/cuda/stream.h"
#include "unit/gpu_rank.h"

namespace atl::test {
namespace {

constexpr bool kSingle = sizeof(Real) == sizeof(float);

/// Operands of ones in a GPU's memory, and what was asked for since it began.
class LightLibrary : public testing::Test {
 protected:
  LightLibrary() : begun_(emulated::light_calls()) {}
  ~LightLibrary() override { emulated::have_no_algorithm(false); }

  MatrixView ones(Index rows, Index cols, Storage storage = Storage::kReals) {
    Matrix& memory = kept_.emplace_back(1, rows * cols + 8, Device::kCuda);
    const MatrixView view(memory.data(), rows, cols, storage);
    fill(rank_.ctx, 1, view);
    return view;
  }
  /// Of a bias of ones, `shift` elements behind the beginning of its memory.
  Epilogue bias(Index cols, Activation activation = Activation::kNone, Index shift = 0) {
    Epilogue e;
    e.bias = ones(1, cols + shift).data + shift;
    e.activation = activation;
    return e;
  }
  Real last(MatrixView of) {
    Matrix reals(of.rows, of.cols, Device::kCuda);
    axpby(rank_.ctx, 1, of, 0, reals);
    return read(rank_.ctx, reals.data() + of.rows * of.cols - 1);
  }
  std::int64_t products() const { return emulated::light_calls().products - begun_.products; }
  std::int64_t heuristics() const { return emulated::light_calls().heuristics - begun_.heuristics; }

  GpuRank rank_;
  std::deque<Matrix> kept_;
  emulated::LightCalls begun_;
};

TEST_F(LightLibrary, FinishesABiasAndItsReluAlone) {
  const MatrixView a = ones(6, 5), w = ones(5, 8), out = ones(6, 8);
  const auto is_asked = [&](const Epilogue& e, bool accumulate = false) {
    const std::int64_t before = products();
    gemm(rank_.ctx, a, w, out, accumulate, e);
    return products() - before == 1;
  };
  EXPECT_EQ(is_asked(bias(8)), kSingle);
  EXPECT_EQ(is_asked(bias(8, Activation::kRelu)), kSingle);
  EXPECT_EQ(is_asked(bias(8, Activation::kRelu), true), kSingle);
  EXPECT_EQ(last(out), 6 + 6);
  EXPECT_FALSE(is_asked({}));
  EXPECT_FALSE(is_asked({.activation = Activation::kRelu}));
  EXPECT_FALSE(is_asked(bias(8, Activation::kElu)));
  EXPECT_FALSE(is_asked(bias(8, Activation::kLeakyRelu)));
  Epilogue e = bias(8);
  e.norm = Epilogue::Norm::kLayer;
  EXPECT_FALSE(is_asked(e));
  e = bias(8);
  e.residual = ones(6, 8);
  EXPECT_FALSE(is_asked(e));
  e = bias(8);
  const std::vector<VertexId> ids{0, 1, 2, 3, 4, 5};
  DeviceCopies copies(rank_.ctx);
  e.dropout = {
      .rate = 0.5, .draws = Draws(1, Purpose::kDropout), .ids = copies.of(std::span<const VertexId>(ids))};
  EXPECT_FALSE(is_asked(e));
}

TEST_F(LightLibrary, TakesHalvesAndRoundsTheirBias) {
  const auto of = [&](Storage a, Storage out) {
    const std::int64_t before = products();
    const MatrixView to = ones(6, 8, out);
    gemm(rank_.ctx, ones(6, 5, a), ones(5, 8), to, false, bias(8, Activation::kRelu));
    EXPECT_EQ(last(to), 6);
    return products() - before;
  };
  EXPECT_EQ(of(Storage::kHalves, Storage::kHalves), kSingle ? 1 : 0);
  EXPECT_EQ(of(Storage::kHalves, Storage::kReals), kSingle ? 1 : 0);
  EXPECT_EQ(of(Storage::kReals, Storage::kHalves), 0) << "float32 goes to halves by way of Reals";
  EXPECT_EQ(heuristics(), kSingle ? 2 : 0);
}

TEST_F(LightLibrary, IsNotAskedWhereThereIsNothingToMultiply) {
  const MatrixView out = ones(6, 8);
  gemm(rank_.ctx, ones(6, 0), ones(0, 8), out, false, bias(8));
  EXPECT_EQ(last(out), 1);
  gemm(rank_.ctx, ones(0, 5), ones(5, 8), ones(0, 8), false, bias(8));
  EXPECT_EQ(products(), 0);
  EXPECT_EQ(heuristics(), 0);
}

TEST_F(LightLibrary, GivesOneAlgorithmAShape) {
  if (!kSingle) GTEST_SKIP() << "products in double precision are cuBLAS's";
  const MatrixView a = ones(6, 5), w = ones(5, 8), out = ones(6, 8);
  gemm(rank_.ctx, a, w, out, false, bias(8));
  gemm(rank_.ctx, ones(6, 5), ones(5, 8), ones(6, 8), true, bias(8));
  EXPECT_EQ(heuristics(), 1) << "other addresses, another bias";
  gemm(rank_.ctx, a, w, out, false, bias(8, Activation::kRelu));
  EXPECT_EQ(heuristics(), 2) << "another finish";
  gemm(rank_.ctx, a, w, ones(6, 12).slice_cols(0, 8), false, bias(8));
  EXPECT_EQ(heuristics(), 3) << "another distance of rows";
  gemm(rank_.ctx, a, w, ones(6, 12).slice_cols(2, 8), false, bias(8));
  EXPECT_EQ(heuristics(), 4) << "another alignment";
  gemm(rank_.ctx, a.slice_rows(0, 5), w, out.slice_rows(0, 5), false, bias(8));
  EXPECT_EQ(heuristics(), 5) << "fewer rows";
  gemm(rank_.ctx, a, w, out, false, bias(8));
  EXPECT_EQ(heuristics(), 5);
}

TEST_F(LightLibrary, IsGivenABiasThatIsAligned) {
  const MatrixView out = ones(6, 8);
  for (Index shift = 0; shift < 5; ++shift) {
    gemm(rank_.ctx, ones(6, 5), ones(5, 8), out, false, bias(8, Activation::kRelu, shift));
    EXPECT_EQ(last(out), 6);
  }
  EXPECT_EQ(products(), kSingle ? 5 : 0);
  EXPECT_EQ(heuristics(), kSingle ? 1 : 0);
}

TEST_F(LightLibrary, IsLeftAloneWithAShapeThatItHasNoAlgorithmFor) {
  emulated::have_no_algorithm(true);
  const MatrixView a = ones(6, 5, Storage::kHalves), w = ones(5, 8), out = ones(6, 8, Storage::kHalves);
  for (int time = 0; time < 3; ++time) {
    fill(rank_.ctx, -100, out);
    gemm(rank_.ctx, a, w, out, false, bias(8, Activation::kRelu));
    EXPECT_EQ(last(out), 6);
  }
  EXPECT_EQ(products(), 0);
  EXPECT_EQ(heuristics(), kSingle ? 1 : 0);
}

TEST_F(LightLibrary, GetsRoomForSumsThatItCutsIntoPieces) {
  for (int time = 0; time < 2; ++time) {
    const MatrixView out = ones(2, 3);
    gemm(rank_.ctx, ones(2, 500), ones(500, 3), out, false, bias(3));
    EXPECT_EQ(last(out), 501);
  }
  EXPECT_EQ(products(), kSingle ? 2 : 0);
}

TEST_F(LightLibrary, ForgetsAlgorithmsWhereShapesHaveNoEnd) {
  if (!kSingle) GTEST_SKIP() << "products in double precision are cuBLAS's";
  const MatrixView a = ones(1100, 1), w = ones(1, 1), out = ones(1100, 1);
  const Epilogue e = bias(1);
  for (Index rows = 1; rows <= 1100; ++rows)
    gemm(rank_.ctx, a.slice_rows(0, rows), w, out.slice_rows(0, rows), false, e);
  EXPECT_EQ(last(out), 2);
  gemm(rank_.ctx, a, w, out, false, e);
  EXPECT_EQ(heuristics(), 1100);
  gemm(rank_.ctx, a.slice_rows(0, 1), w, out.slice_rows(0, 1), false, e);
  EXPECT_EQ(heuristics(), 1101);
}

// ---- what the library itself refuses

class LightLibraryItself : public LightLibrary {
 protected:
  static cudaDataType_t type_of(Storage storage) {
    return storage == Storage::kHalves ? CUDA_R_16BF : CUDA_R_32F;
  }
  struct Asked {
    Storage of = Storage::kReals, into = Storage::kReals, bias = Storage::kReals;
    std::uintptr_t bias_at = 16;
    std::int64_t distance = 8;
    std::uint64_t room = 0, k = 5;
    cublasLtMatmulDescOpaque_t operation{};
    cublasLtMatrixLayoutOpaque_t first{}, second{}, to{};
    cublasLtMatmulHeuristicResult_t found{};
  };
  /// For (5 or k) · (8 x 6), column by column.
  cublasStatus_t ask(Asked& asked) {
    cublasLtMatrixLayoutInit(&asked.first, type_of(asked.of), 8, asked.k, asked.distance);
    cublasLtMatrixLayoutInit(&asked.second, type_of(asked.of), asked.k, 6, std::int64_t(asked.k));
    cublasLtMatrixLayoutInit(&asked.to, type_of(asked.into), 8, 6, 8);
    EXPECT_EQ(cublasLtMatmulDescInit(&asked.operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
              CUBLAS_STATUS_SUCCESS);
    set(asked, CUBLASLT_MATMUL_DESC_EPILOGUE, std::uint32_t(CUBLASLT_EPILOGUE_BIAS));
    set(asked, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, std::int32_t(type_of(asked.bias)));
    set(asked, CUBLASLT_MATMUL_DESC_BIAS_POINTER, asked.bias_at);
    cublasLtMatmulPreferenceOpaque_t preference{};
    cublasLtMatmulPreferenceInit(&preference);
    const auto mask = std::uint32_t(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE), alignment = 32u;
    cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &mask,
                                         sizeof mask);
    cublasLtMatmulPreferenceSetAttribute(&preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &asked.room,
                                         sizeof asked.room);
    for (const auto which :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      cublasLtMatmulPreferenceSetAttribute(&preference, which, &alignment, sizeof alignment);
    int count = 0;
    return cublasLtMatmulAlgoGetHeuristic(handle(), &asked.operation, &asked.first, &asked.second, &asked.to,
                                          &asked.to, &preference, 1, &asked.found, &count);
  }
  template <class T>
  void set(Asked& asked, cublasLtMatmulDescAttributes_t which, T value) {
    EXPECT_EQ(cublasLtMatmulDescSetAttribute(&asked.operation, which, &value, sizeof value),
              CUBLAS_STATUS_SUCCESS);
  }
  /// With operands that lie `shift` bytes behind the beginning of their memory.
  cublasStatus_t multiply(Asked& asked, std::size_t shift = 0) {
    const auto at = [&] { return reinterpret_cast<std::byte*>(ones(40, 40).data) + shift; };
    const float one = 1, beta = 0;
    std::byte *const a = at(), *const b = at(), *const d = at(), *const room = at();
    set(asked, CUBLASLT_MATMUL_DESC_BIAS_POINTER, at() - shift);
    return cublasLtMatmul(handle(), &asked.operation, &one, a, &asked.first, b, &asked.second, &beta, d,
                          &asked.to, d, &asked.to, &asked.found.algo, room, asked.room,
                          cuda::stream_of(rank_.ctx).stream());
  }
  cublasLtHandle_t handle() {
    return reinterpret_cast<cublasLtHandle_t>(cuda::stream_of(rank_.ctx).cublas());
  }
};

TEST_F(LightLibraryItself, RefusesTypesLayoutsAndAlignments) {
  constexpr auto kGood = CUBLAS_STATUS_SUCCESS, kNot = CUBLAS_STATUS_NOT_SUPPORTED;
  const auto answer = [&](Asked asked) { return ask(asked); };
  const Storage reals = Storage::kReals, halves = Storage::kHalves;
  EXPECT_EQ(answer({}), kGood);
  EXPECT_EQ(answer({.of = halves, .into = halves, .bias = halves}), kGood);
  EXPECT_EQ(answer({.of = halves, .into = reals, .bias = reals}), kGood);
  EXPECT_EQ(answer({.of = halves, .into = halves, .bias = reals}), kNot);
  EXPECT_EQ(answer({.of = reals, .into = halves, .bias = halves}), kNot);
  EXPECT_EQ(answer({.bias_at = 8}), kNot);
  EXPECT_EQ(answer({.distance = 7}), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(answer({.k = 500}), kNot) << "no room";
  EXPECT_EQ(answer({.room = 4096, .k = 500}), kGood);
}

TEST_F(LightLibraryItself, RefusesAnotherShapesAlgorithmAndTooLittleRoom) {
  Asked asked;
  ASSERT_EQ(ask(asked), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(multiply(asked), CUBLAS_STATUS_SUCCESS);
  Asked other{.of = Storage::kHalves};
  ASSERT_EQ(ask(other), CUBLAS_STATUS_SUCCESS);
  other.found = asked.found;
  EXPECT_EQ(multiply(other), CUBLAS_STATUS_INVALID_VALUE);
  Asked longer{.room = 4096, .k = 500};
  ASSERT_EQ(ask(longer), CUBLAS_STATUS_SUCCESS);
  longer.room = 16;
  EXPECT_EQ(multiply(longer), CUBLAS_STATUS_INVALID_VALUE);
}

using LightLibraryItselfDeathTest = LightLibraryItself;

TEST_F(LightLibraryItselfDeathTest, EndsAtOperandsThatLieOtherwise) {
  Asked asked;
  ASSERT_EQ(ask(asked), CUBLAS_STATUS_SUCCESS);
  EXPECT_DEATH(std::ignore = multiply(asked, 16), "isn't aligned");
}

TEST_F(LightLibraryItselfDeathTest, EndsAtAPlanWithinACapture) {
  const auto plan = [&] {
    cudaStreamBeginCapture(cuda::stream_of(rank_.ctx).stream(), cudaStreamCaptureModeThreadLocal);
    Asked asked;
    std::ignore = ask(asked);
  };
  EXPECT_DEATH(plan(), "within a capture");
}

}  // namespace
}  // namespace atl::test
