// From the catalogue to a device's kernel: checks that every operand is in the device's memory, and calls the
// device's version.
#pragma once

#include "base/error.h"
#include "tensor/backend.h"
#include "tensor/dispatch/count.h"
#include "tensor/dispatch/operands.h"
#include "tensor/dispatch/reals.h"

namespace atl {

inline const KernelTable& kernels_of(Device device) {
  return device == Device::kCuda ? backend().kernels : cpu_kernels();
}

/// Checks `operand` of kernel `name`. If the host's memory is the device's, there is nothing to check.
template <class T>
void check_operand(const Memory& memory, const char* name, T operand) {
  each_operand(operand, [&]<class E>(E* data, Index elements) {
    const std::size_t bytes = std::size_t(elements < 0 ? 1 : elements) * sizeof(E);
    ATOLL_CHECK(memory.holds(data, bytes), "{}: an operand of {} bytes is not in the device's memory", name,
                bytes);
  });
}

/// One of the catalogue's kernels.
template <class... Formal>
struct Called {
  Kernel id;
  const char* name;
  void (*KernelTable::*kernel)(Context&, Formal...);
};

template <class... Formal>
Called(Kernel, const char*, void (*KernelTable::*)(Context&, Formal...)) -> Called<Formal...>;

template <class... Formal, class... Given>
void call_in_place(const Called<Formal...>& called, Context& ctx, const Given&... arguments) {
  if (ctx.device == Device::kCuda && backend().memory.holds != nullptr)
    (check_operand(backend().memory, called.name, arguments), ...);
  (kernels_of(ctx.device).*called.kernel)(ctx, arguments...);
}

/// Counts only the call, for kernels whose operands aren't streamed.
template <class... Formal, class... Given>
void call_uncounted(const Called<Formal...>& called, Context& ctx, const Given&... arguments) {
  if (ctx.count != nullptr) ctx.count->calls += 1;
  if (!any_in_halves(arguments...) || kernels_of(ctx.device).take_halves.has(called.id))
    return call_in_place(called, ctx, arguments...);
  const auto in_reals = [&](Context&, const auto&... reals) { call_in_place(called, ctx, reals...); };
  call_in_reals(in_reals, ctx, arguments...);
}

template <class... Formal, class... Given>
void call(const Called<Formal...>& called, Context& ctx, const Given&... arguments) {
  if (ctx.count != nullptr) *ctx.count += streams(arguments...);
  call_uncounted(called, ctx, arguments...);
}

/// Calls call(the kernel, ctx, …).
#define ATOLL_CALLED(name)                      \
  Called {                                      \
    Kernel::k_##name, #name, &KernelTable::name \
  }
#define ATOLL_CALL(name, ...) call(ATOLL_CALLED(name), __VA_ARGS__)
#define ATOLL_CALL_UNCOUNTED(name, ...) call_uncounted(ATOLL_CALLED(name), __VA_ARGS__)

// Checks that kernels have in common.

inline void check(const Dropout& dropout, Index rows) {
  if (!dropout) return;
  ATOLL_CHECK(Index(dropout.ids.size()) == rows, "{} ids for {} rows", dropout.ids.size(), rows);
  ATOLL_CHECK(dropout.rate < 1, "dropout rate {}", dropout.rate);
}

/// For products that draw value by value: their dropout must cover all rows.
inline void check_all_rows(const Dropout& dropout, Index rows) {
  ATOLL_CHECK(!dropout || (dropout.begin == 0 && dropout.end >= rows), "dropout of rows {} … {} of {}",
              dropout.begin, dropout.end, rows);
}

/// For an epilogue on `rows` rows and `cols` columns.
inline void check(const Epilogue& e, Index rows, Index cols) {
  ATOLL_CHECK(e.norm != Epilogue::Norm::kBatch || (e.col_mean != nullptr && e.col_rstd != nullptr),
              "batch norm's statistics");
  ATOLL_CHECK(e.residual.empty() || (e.residual.rows == rows && e.residual.cols == cols),
              "residual {} x {} of {} x {}", e.residual.rows, e.residual.cols, rows, cols);
  ATOLL_CHECK(e.row_stats.empty() || (e.row_stats.rows == rows && e.row_stats.cols == 2), "row_stats {} x {}",
              e.row_stats.rows, e.row_stats.cols);
  check(e.dropout, rows);
}

template <class A, class B>
void check_same_shape(const View<A>& a, const View<B>& b) {
  ATOLL_CHECK(a.rows == b.rows && a.cols == b.cols, "{} x {} and {} x {}", a.rows, a.cols, b.rows, b.cols);
}

}  // namespace atl
