#include "partition/partitioners.h"

#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace atl {
namespace {

constexpr Partitioner kPartitioners[] = {
    {"metis", "parts that exchange few rows, balanced in vertices, arcs and training vertices",
     assign_by_metis, true},
    {"hash", "a random part for each vertex: always balanced, but nearly every row is exchanged",
     assign_by_hash},
    {"range", "equal ranges of the data set's vertex order: good if that order has meaning", assign_by_range},
};

}  // namespace

std::span<const Partitioner> partitioners() {
  return kPartitioners;
}

const Partitioner& find_partitioner(const std::string& name) {
  std::string known;
  for (const Partitioner& p : kPartitioners) {
    if (name == p.name) return p;
    known += (known.empty() ? "" : ", ") + std::string(p.name);
  }
  fail("partitioner \"{}\" is unknown; known are {}", name, known);
}

void assign_by_hash(const PartitionInput&, const PartitionOptions& options, std::span<std::int32_t> owner) {
  const Draws draws(options.seed, Purpose::kPartition);
  for (std::size_t v = 0; v < owner.size(); ++v)
    owner[v] = std::int32_t(draws.bits64_at(v, 0) % std::uint64_t(options.parts));
}

void assign_by_range(const PartitionInput&, const PartitionOptions& options, std::span<std::int32_t> owner) {
  for (std::size_t v = 0; v < owner.size(); ++v)
    owner[v] = std::int32_t(v * std::size_t(options.parts) / owner.size());
}

namespace {

/// One part of a graph, as a partitioner sees it.
struct PartOfGraph {
  std::vector<VertexId> vertices;  // of the whole graph, ascending
  Csr pattern;
  std::vector<VertexId> degrees;
  std::vector<std::uint8_t> training;
  PartitionInput input() const { return {pattern.view(), degrees, training}; }
};

/// `local` (vertices) is scratch for the numbers of the part's vertices.
PartOfGraph part_of(const PartitionInput& whole, std::span<const std::int32_t> owner, int part,
                    std::span<VertexId> local) {
  PartOfGraph out;
  for (std::size_t v = 0; v < owner.size(); ++v) {
    if (owner[v] != part) continue;
    local[v] = VertexId(out.vertices.size());
    out.vertices.push_back(VertexId(v));
    out.degrees.push_back(whole.degrees[v]);
    if (!whole.training.empty()) out.training.push_back(whole.training[v]);
  }
  out.pattern.rows = out.pattern.cols = Index(out.vertices.size());
  for (const VertexId v : out.vertices) {
    for (const VertexId u : whole.pattern.row(v))
      if (owner[std::size_t(u)] == part) out.pattern.columns.push_back(local[std::size_t(u)]);
    out.pattern.offsets.push_back(out.pattern.arcs());
  }
  return out;
}

/// Adds each vertex's slice to its cell, which is part · slices so far.
void divide(const PartOfGraph& part, const Partitioner& partitioner, const PartitionOptions& options,
            std::span<std::int32_t> cell) {
  std::vector<std::int32_t> slice(part.vertices.size());
  PartitionOptions inside = options;
  inside.parts = options.slices, inside.slices = 1;
  if (part.vertices.size() > std::size_t(options.slices))
    partitioner.assign(part.input(), inside, slice);
  else
    std::iota(slice.begin(), slice.end(), 0);
  for (std::size_t i = 0; i < slice.size(); ++i) cell[std::size_t(part.vertices[i])] += slice[i];
}

}  // namespace

std::vector<std::int32_t> assign_cells(const PartitionInput& input, const PartitionOptions& options) {
  const Partitioner& partitioner = find_partitioner(options.kind);
  std::vector<std::int32_t> cell(input.degrees.size(), 0);
  PartitionOptions outer = options;
  outer.slices = 1;
  if (!partitioner.by_arcs) outer.parts = options.parts * options.slices;
  if (outer.parts > 1) partitioner.assign(input, outer, cell);
  if (options.slices == 1 || !partitioner.by_arcs) return cell;
  const std::vector<std::int32_t> owner = cell;
  for (std::int32_t& each : cell) each *= options.slices;
  std::vector<VertexId> local(owner.size());
  for (int part = 0; part < options.parts; ++part)
    divide(part_of(input, owner, part, local), partitioner, options, cell);
  return cell;
}

}  // namespace atl
