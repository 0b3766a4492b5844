// METIS' multilevel k-way partitioning (Karypis & Kumar 1998). Its objective here is communication volume,
// the rows that are exchanged, not the arcs that are cut: a row needed by ten arcs of another part travels
// once.
#include <metis.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/error.h"
#include "partition/partitioners.h"

namespace atl {
namespace {

constexpr Index kMaxArcs = std::numeric_limits<idx_t>::max();

/// The largest part over the mean that METIS may leave, for vertices, arcs and training vertices.
constexpr real_t kImbalance[] = {1.05f, 1.05f, 1.10f};

int objective_of(const std::string& name) {
  if (name == "volume") return METIS_OBJTYPE_VOL;
  if (name == "cut") return METIS_OBJTYPE_CUT;
  fail("unknown objective \"{}\" of the metis partitioner; known are volume, cut", name);
}

/// Weights of each vertex, one after the other: 1, its arcs, and whether it is a training vertex if any is.
std::vector<idx_t> vertex_weights(const PartitionInput& input, idx_t constraints) {
  std::vector<idx_t> weights;
  weights.reserve(std::size_t(input.pattern.rows * constraints));
  for (std::size_t v = 0; v < std::size_t(input.pattern.rows); ++v) {
    weights.push_back(1);
    weights.push_back(std::max<idx_t>(input.degrees[v], 1));
    if (constraints == 3) weights.push_back(input.training[v] != 0);
  }
  return weights;
}

const char* reason(int code) {
  if (code == METIS_ERROR_MEMORY) return "not enough memory; use the hash or range partitioner";
  return code == METIS_ERROR_INPUT ? "it refuses the graph" : "internal error";
}

}  // namespace

void assign_by_metis(const PartitionInput& input, const PartitionOptions& options,
                     std::span<std::int32_t> owner) {
  static_assert(sizeof(idx_t) >= sizeof(std::int32_t));
  const CsrView& graph = input.pattern;
  if (graph.arcs() > kMaxArcs)
    fail("metis counts arcs with {} bits: {} arcs are more than its {}; use the hash or range partitioner",
         8 * sizeof(idx_t), graph.arcs(), kMaxArcs);
  const auto training =
      std::count_if(input.training.begin(), input.training.end(), [](auto t) { return t != 0; });
  idx_t vertices = idx_t(graph.rows), constraints = training > 0 ? 3 : 2, parts = options.parts, value = 0;
  std::vector<idx_t> offsets(graph.offsets, graph.offsets + graph.rows + 1);
  std::vector<idx_t> columns;  // used where METIS' ids are wider than ours; it only reads them
  if constexpr (sizeof(idx_t) != sizeof(VertexId))
    columns.assign(graph.columns, graph.columns + graph.arcs());
  auto* adjacent =
      columns.empty() ? reinterpret_cast<idx_t*>(const_cast<VertexId*>(graph.columns)) : columns.data();
  std::vector<idx_t> weights = vertex_weights(input, constraints), part(std::size_t(vertices), 0);
  std::vector<real_t> imbalance(kImbalance, kImbalance + constraints);
  idx_t settings[METIS_NOPTIONS];
  METIS_SetDefaultOptions(settings);
  settings[METIS_OPTION_OBJTYPE] = objective_of(options.objective);
  settings[METIS_OPTION_SEED] = idx_t(options.seed & 0x7fffffff);
  const int code =
      METIS_PartGraphKway(&vertices, &constraints, offsets.data(), adjacent, weights.data(), nullptr, nullptr,
                          &parts, nullptr, imbalance.data(), settings, &value, part.data());
  if (code != METIS_OK)
    fail("metis could not make {} parts of {} vertices: {}", parts, vertices, reason(code));
  std::copy(part.begin(), part.end(), owner.begin());
}

}  // namespace atl
