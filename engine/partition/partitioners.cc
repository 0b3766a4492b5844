#include "partition/partitioners.h"

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

}  // namespace atl
