// METIS' multilevel partitioning (Karypis & Kumar 1998). The objective is communication volume, the rows that
// are exchanged, not the arcs that are cut: a row needed by ten arcs of another part travels once. METIS has
// two methods. K-way knows both objectives; recursive bisection often finds better partitions with several
// balance constraints and few parts. Both are tried, and the result that is better by the objective is kept.
// Measured on ogbn_arxiv with vertices, arcs and training vertices balanced to 2 %: 60k against 48k rows
// exchanged with 2 parts, 104k against 108k with 4, 171k against 183k with 8. Looser tolerances don't lower
// these numbers. Balancing vertices alone would (19k with 2 parts), but one part then has 41 % more arcs than
// the mean.
#include <fcntl.h>
#include <metis.h>
#include <unistd.h>
#include <csignal>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

#include "base/error.h"
#include "partition/partitioners.h"

namespace atl {
namespace {

constexpr Index kMostCounted = std::numeric_limits<idx_t>::max();

/// The largest ratio of a part to the mean part that METIS may leave, for vertices, arcs and training
/// vertices.
constexpr real_t kImbalance[] = {1.02f, 1.02f, 1.05f};

constexpr int kMostPartsByBisection = 8;  // with more parts k-way is the better method

int objective_of(const std::string& name) {
  if (name == "volume") return METIS_OBJTYPE_VOL;
  if (name == "cut") return METIS_OBJTYPE_CUT;
  fail("objective \"{}\" of the metis partitioner is unknown; known are volume and cut", name);
}

/// Returns the number by which degrees are divided, so that METIS can add up the weights in an idx_t. Mostly
/// it is 1. The sum of degrees may be too large even if the pattern's number of arcs isn't, because degrees
/// count multiple arcs.
Index unit_of(std::span<const VertexId> degrees) {
  Index sum = 0;
  for (const VertexId degree : degrees) sum += std::max<Index>(degree, 1);
  if (sum <= kMostCounted) return 1;
  const Index room = std::max<Index>(kMostCounted - Index(degrees.size()), 1);  // each vertex has 1 at least
  return (sum + room - 1) / room;
}

/// The weights of each vertex, one vertex after the other: 1, its arcs, and whether it is a training vertex
/// (only where there are any).
std::vector<idx_t> vertex_weights(const PartitionInput& input, idx_t constraints) {
  const Index unit = unit_of(input.degrees);
  std::vector<idx_t> weights;
  weights.reserve(std::size_t(input.pattern.rows * constraints));
  for (std::size_t v = 0; v < std::size_t(input.pattern.rows); ++v) {
    weights.push_back(1);
    weights.push_back(idx_t(std::max<Index>(input.degrees[v] / unit, 1)));
    if (constraints == 3) weights.push_back(input.training[v] != 0);
  }
  return weights;
}

const char* reason(int code) {
  if (code == METIS_ERROR_MEMORY) return "not enough memory; use the hash or range partitioner";
  return code == METIS_ERROR_INPUT ? "it rejects the graph" : "internal error";
}

/// While one of these exists, standard output, which is for results, drops what METIS prints for small
/// graphs. Any number may exist at a time, on any threads.
class SilencedOutput {
 public:
  SilencedOutput() {
    const std::lock_guard lock(mutex());
    if (living()++ > 0) return;
    std::fflush(stdout);
    kept() = ::dup(STDOUT_FILENO);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (kept() >= 0 && nowhere >= 0) ::dup2(nowhere, STDOUT_FILENO);
    if (nowhere >= 0) ::close(nowhere);
  }
  ~SilencedOutput() {
    const std::lock_guard lock(mutex());
    if (--living() > 0) return;
    std::fflush(stdout);
    if (kept() < 0) return;
    ::dup2(kept(), STDOUT_FILENO);
    ::close(kept());
  }
  SilencedOutput(const SilencedOutput&) = delete;
  SilencedOutput& operator=(const SilencedOutput&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  static int& living() {
    static int count = 0;
    return count;
  }
  static int& kept() {
    static int descriptor = -1;
    return descriptor;
  }
};

/// METIS traps SIGTERM while it runs and takes one for an error of its own. While one of these exists this
/// thread blocks SIGTERM, so that a request to stop goes to the thread that waits for it (base/stop.h), or
/// acts when METIS has returned. METIS itself raises SIGTERM only for invalid options, which we don't pass.
class BlockedStops {
 public:
  BlockedStops() {
    sigset_t stop;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stop, &before_);
  }
  ~BlockedStops() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedStops(const BlockedStops&) = delete;
  BlockedStops& operator=(const BlockedStops&) = delete;

 private:
  sigset_t before_;
};

idx_t constraints_of(const PartitionInput& input) {
  return std::ranges::any_of(input.training, [](auto t) { return t != 0; }) ? 3 : 2;
}

/// METIS numbers a graph's arcs, and all weights of all vertices, with an idx_t.
void check_size(const PartitionInput& input) {
  constexpr const char* kRemedy = "use the hash or range partitioner";
  const Index vertices = input.pattern.rows, constraints = constraints_of(input);
  if (vertices > kMostCounted / constraints)
    fail("metis counts with {} bits, but {} weights of each of {} vertices are more than its limit of {}; {}",
         8 * sizeof(idx_t), constraints, vertices, kMostCounted, kRemedy);
  const Index arcs = input.pattern.arcs();
  if (arcs > kMostCounted)
    fail("metis counts arcs with {} bits, but {} arcs are more than its limit of {}; {}", 8 * sizeof(idx_t),
         arcs, kMostCounted, kRemedy);
}

/// METIS' arguments, kept between its methods.
class Problem {
 public:
  Problem(const PartitionInput& input, const PartitionOptions& options)
      : constraints_(constraints_of(input)),
        parts_(options.parts),
        seed_(idx_t(options.seed & 0x7fffffff)),
        offsets_(input.pattern.offsets, input.pattern.offsets + input.pattern.rows + 1),
        weights_(vertex_weights(input, constraints_)),
        imbalance_(kImbalance, kImbalance + constraints_) {
    if constexpr (sizeof(idx_t) == sizeof(VertexId)) {
      // METIS only reads them
      columns_ = reinterpret_cast<idx_t*>(const_cast<VertexId*>(input.pattern.columns));
    } else {
      wide_.assign(input.pattern.columns, input.pattern.columns + input.pattern.arcs());
      columns_ = wide_.data();
    }
  }

  std::vector<std::int32_t> solve(decltype(METIS_PartGraphKway)& method, int objective) {
    idx_t settings[METIS_NOPTIONS], vertices = idx_t(offsets_.size()) - 1, value = 0;
    METIS_SetDefaultOptions(settings);
    settings[METIS_OPTION_OBJTYPE] = objective;
    settings[METIS_OPTION_SEED] = seed_;
    std::vector<idx_t> part(std::size_t(vertices), 0);
    const SilencedOutput silenced;
    const BlockedStops blocked;
    const int code = method(&vertices, &constraints_, offsets_.data(), columns_, weights_.data(), nullptr,
                            nullptr, &parts_, nullptr, imbalance_.data(), settings, &value, part.data());
    if (code != METIS_OK)
      fail("metis could not divide {1} vertices into {0} parts: {2}; use fewer parts, or method hash", parts_,
           vertices, reason(code));
    return {part.begin(), part.end()};
  }

 private:
  idx_t constraints_, parts_, seed_;
  std::vector<idx_t> offsets_, weights_, wide_;
  std::vector<real_t> imbalance_;
  idx_t* columns_ = nullptr;
};

/// Rows exchanged (volume) or arcs cut with these owners.
Index cost_of(const CsrView& graph, std::span<const std::int32_t> owner, const PartitionOptions& options) {
  std::vector<Index> counted_for(std::size_t(options.parts),
                                 -1);  // the last vertex counted towards each part
  Index cost = 0;
  for (Index v = 0; v < graph.rows; ++v)
    for (const VertexId u : graph.row(v)) {
      const auto part = std::size_t(owner[std::size_t(u)]);
      if (owner[std::size_t(u)] == owner[std::size_t(v)]) continue;
      cost += options.objective == "cut" || counted_for[part] != v;
      counted_for[part] = v;
    }
  return cost;
}

}  // namespace

void assign_by_metis(const PartitionInput& input, const PartitionOptions& options,
                     std::span<std::int32_t> owner) {
  const CsrView& graph = input.pattern;
  const int objective = objective_of(options.objective);
  check_size(input);
  Problem problem(input, options);
  auto best = problem.solve(METIS_PartGraphKway, objective);
  if (options.parts <= kMostPartsByBisection) {
    auto other = problem.solve(METIS_PartGraphRecursive, METIS_OBJTYPE_CUT);
    if (cost_of(graph, other, options) < cost_of(graph, best, options)) best = std::move(other);
  }
  std::copy(best.begin(), best.end(), owner.begin());
}

}  // namespace atl
