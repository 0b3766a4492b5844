// Chooses, once per process, the widest instruction set that this machine has and the environment allows.
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

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
extern const PairLoops pair_loops, tile_loops;
#else
constexpr PairLoops pair_loops{}, tile_loops{};
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

/// Whether this build has loops for halves, and the processor their instructions. The loops compute in
/// float32, so double-precision builds have none. Builds by clang, which only analyse and fuzz, have none
/// either: clang doesn't know the instructions' names.
#if !defined(ATOLL_REAL_DOUBLE) && !defined(__clang__)
bool has_pairs() {
  return has_v4() && __builtin_cpu_supports("avx512bf16");
}
bool knows_tiles() {
  return __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16");
}
#else
bool has_pairs() {
  return false;
}
bool knows_tiles() {
  return false;
}
#endif

/// A process must ask Linux before it uses tiles, because they make the saved state of its threads 8 KiB
/// larger. An older Linux or a sandbox doesn't know the request, and refuses.
bool may_use_tiles() {
  constexpr long kAskForState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
}
bool has_tiles() {
  static const bool has = has_pairs() && knows_tiles() && may_use_tiles();
  return has;
}

/// The table of AVX-512's loops, with `pairs` as its loops for halves.
Table with_halves(const char* name, const PairLoops& pairs) {
  Table table = avx512::table;
  table.name = name;
  table.pairs = &pairs;
  return table;
}

struct Level {
  const Table* table;
  bool (*is_here)();
};

/// From the least to the best.
const std::vector<Level>& levels() {
  static const Table of_pairs = with_halves("avx512bf16", avx512::pair_loops),
                     of_tiles = with_halves("amx", avx512::tile_loops);
  static const std::vector<Level> all{{&baseline::table, [] { return true; }},
                                      {&avx2::table, has_v3},
                                      {&avx512::table, has_v4},
                                      {&of_pairs, has_pairs},
                                      {&of_tiles, has_tiles}};
  return all;
}

/// Whether the level's loops for halves are slower than those for Reals. Intel's processors multiply pairs at
/// two thirds of float32's rate, AMD's above it.
bool is_slower(const Level& level) {
  return level.table->pairs == &avx512::pair_loops && __builtin_cpu_is("intel");
}

const Table* best_table() {
  const Table* best = nullptr;
  for (const Level& level : levels())
    if (level.is_here() && !is_slower(level)) best = level.table;
  return best;
}

std::string names() {
  std::string all;
  for (const Level& level : levels()) all += fmt::format("{}{}", all.empty() ? "" : ", ", level.table->name);
  return all;
}

const Table* choose() {
  const char* wanted = std::getenv("ATOLL_ISA");
  if (wanted == nullptr || *wanted == '\0') return best_table();
  const Table* table = table_named(wanted);
  if (table == nullptr) {
    fail("ATOLL_ISA={}: is not allowed (use one of {}; this machine has up to {})", wanted, names(),
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
  for (const Level& level : levels())
    if (wanted == level.table->name) return level.is_here() ? level.table : nullptr;
  return nullptr;
}

const Table& loops() {
  return *chosen();
}

void use(const Table& table) {
  chosen() = &table;
}

}  // namespace atl::simd
