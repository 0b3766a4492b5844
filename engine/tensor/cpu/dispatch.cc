// Chooses, once per process, the widest instruction set that this machine has and the environment allows.
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "tensor/cpu/simd/loops.h"

namespace atl::simd {
namespace baseline {
extern const Table table;
}
namespace avx2 {
extern const Table table;
}
namespace avx512 {
extern const Table table;
#if !defined(ATOLL_REAL_DOUBLE) && !defined(__clang__)
extern const PairLoops pair_loops;
#endif
}  // namespace avx512

namespace {

/// Whether the machine has what -march=x86-64-v3 and -v4 let the compiler use. Clang 14 knows these names
/// too.
bool has_v3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

const Table* best_table() {
  if (const Table* table = table_named("avx512")) return table;
  if (const Table* table = table_named("avx2")) return table;
  return &baseline::table;
}

const Table* choose() {
  const char* wanted = std::getenv("ATOLL_ISA");
  if (wanted == nullptr || *wanted == '\0') return best_table();
  const Table* table = table_named(wanted);
  if (table == nullptr) {
    fail("ATOLL_ISA={}: is not allowed (use baseline, avx2 or avx512; this machine has up to {})", wanted,
         best_table()->name);
  }
  return table;
}

const Table*& chosen() {
  static const Table* table = choose();
  return table;
}

}  // namespace

const Table* table_named(const char* name) {
  const std::string_view wanted = name;
  if (wanted == "baseline") return &baseline::table;
  if (wanted == "avx2" && has_v3()) return &avx2::table;
  if (wanted == "avx512" && has_v4()) return &avx512::table;
  return nullptr;
}

const Table& loops() {
  return *chosen();
}

const PairLoops* pair_loops() {
#if !defined(ATOLL_REAL_DOUBLE) && !defined(__clang__)
  static const bool has_pairs = __builtin_cpu_supports("avx512bf16") != 0;
  if (has_pairs && chosen() == &avx512::table) return &avx512::pair_loops;
#endif
  return nullptr;
}

void use(const Table& table) {
  chosen() = &table;
}

}  // namespace atl::simd
