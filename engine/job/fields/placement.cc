// The rows of `placement` and `resources`: how many ranks, where, with what.
#include <fmt/format.h>

#include "job/fields.h"
#include "job/layout.h"
#include "job/samplers.h"

namespace atl {
namespace {

std::vector<Field> resource_fields() {
  std::vector<Field> f;
  f.push_back({.path = "resources",
               .description = "processors, memory and GPUs of each rank",
               .mutability = Mutability::kWhileSuspended});
  f.push_back({.path = "resources.cpu",
               .type = FieldType::kCores,
               .description = "cores of each rank; locally its number of threads, rounded down",
               .slot = at([](Job & j) -> auto& { return j.resources.cpu; }),
               .unit = "cores",
               .minimum = 0,
               .maximum = 4096,
               .above_minimum = true,
               .default_text = "the machine's cores divided among its ranks",
               .may_change = true});
  f.push_back({.path = "resources.memory",
               .type = FieldType::kBytes,
               .description = "memory of each rank; a job that needs more by its plan is refused",
               .slot = at([](Job & j) -> auto& { return j.resources.memory; }),
               .unit = "bytes",
               .minimum = 0,
               .above_minimum = true,
               .default_text = "no limit",
               .may_change = true});
  f.push_back({.path = "resources.nvidia.com/gpu",
               .type = FieldType::kInteger,
               .description = "1 puts each rank on a GPU; this needs build/atoll-cuda",
               .slot = at([](Job & j) -> auto& { return j.resources.gpus; }),
               .minimum = 0,
               .maximum = 1,
               .may_change = true});
  f.push_back({.path = "resources.sharedMemory",
               .type = FieldType::kBytes,
               .description = "on a cluster: /dev/shm of each rank, where NCCL's buffers lie",
               .slot = at([](Job & j) -> auto& { return j.resources.shared_memory; }),
               .unit = "bytes",
               .minimum = 0,
               .above_minimum = true,
               .default_text = "the chart's",
               .may_change = true});
  return f;
}

/// The default number of parts in words: "one a rank; with sampler cluster …".
std::string parts_by_default() {
  std::string text = "one a rank";
  for (const SamplerInfo& each : sampler_infos())
    if (each.parts > 0)
      text += fmt::format("; with sampler {} {}, or one a rank where these are more", each.name, each.parts);
  return text;
}

std::vector<Field> partitioner_fields() {
  std::vector<Field> f;
  const std::string path = "placement.partitioner";
  f.push_back({.path = path, .description = "how vertices are divided among ranks", .shorthand = {"kind"}});
  f.push_back({.path = path + ".kind",
               .type = FieldType::kChoice,
               .description = "the partitioning method",
               .slot = at([](Job & j) -> auto& { return j.placement.partitioner.kind; }),
               .choices = {{"metis", "few arcs between parts; vertices, arcs and training vertices balanced"},
                           {"hash", "by a hash of the vertex id: balanced, but most arcs run between parts"},
                           {"range", "equal ranges of vertex ids"}},
               .may_change = true});
  f.push_back({.path = path + ".seed",
               .type = FieldType::kInteger,
               .description = "seed of the method's random choices, 0 … 2⁶³ − 1",
               .slot = at([](Job & j) -> auto& { return j.placement.partitioner.seed; }),
               .minimum = 0,
               .may_change = true,
               .used_with = {path + ".kind", {"metis", "hash"}}});
  f.push_back({.path = path + ".objective",
               .type = FieldType::kChoice,
               .description = "what metis minimises",
               .slot = at([](Job & j) -> auto& { return j.placement.partitioner.objective; }),
               .choices = {{"volume", "rows exchanged between ranks"}, {"cut", "arcs between parts"}},
               .may_change = true,
               .used_with = {path + ".kind", {"metis"}}});
  f.push_back(
      {.path = path + ".parts",
       .type = FieldType::kInteger,
       .description =
           "number of parts; strategies minibatch and p3 train the same on every number of ranks up to it",
       .slot = at([](Job & j) -> auto& { return j.placement.partitioner.parts; }),
       .minimum = 0,
       .maximum = kMostRanks,
       .default_text = parts_by_default(),
       .may_change = true});
  return f;
}

}  // namespace

std::vector<Field> placement_fields() {
  std::vector<Field> f;
  f.push_back({.path = "placement",
               .description = "how many ranks there are, and where they run",
               .mutability = Mutability::kWhileSuspended});
  f.push_back({.path = "placement.ranks",
               .type = FieldType::kInteger,
               .description = "number of ranks; each is a process",
               .slot = at([](Job & j) -> auto& { return j.placement.ranks; }),
               .minimum = 1,
               .maximum = kMostRanks,
               .may_change = true});
  f.push_back(
      {.path = "placement.ranksPerServer",
       .type = FieldType::kInteger,
       .description =
           "how many consecutive ranks share a server; 0 = strategy and, for GPUs on a cluster, nodes decide",
       .slot = at([](Job & j) -> auto& { return j.placement.ranks_per_server; }),
       .minimum = 0,
       .maximum = kMostRanks,
       .may_change = true});
  for (auto& field : partitioner_fields()) f.push_back(std::move(field));
  f.push_back({.path = "placement.topologyLevels",
               .type = FieldType::kTextList,
               .description = "node labels that name the cluster's levels (rack, server), the coarsest first",
               .slot = at([](Job & j) -> auto& { return j.placement.topology_levels; }),
               .default_text = "[kubernetes.io/hostname]",
               .may_change = true});
  f.push_back({.path = "placement.levelWeights",
               .type = FieldType::kNumberList,
               .description = "cost of a byte sent between two domains of each level, in the order of "
                              "topologyLevels",
               .slot = at([](Job & j) -> auto& { return j.placement.level_weights; }),
               .minimum = 0,
               .default_text = "a tenth of the level above",
               .may_change = true});
  f.push_back(
      {.path = "placement.within",
       .type = FieldType::kText,
       .description = "one of topologyLevels; all ranks run inside one domain of this level, or none starts",
       .slot = at([](Job & j) -> auto& { return j.placement.within; }),
       .default_text = "the whole cluster",
       .may_change = true});
  f.push_back(
      {.path = "placement.policy",
       .type = FieldType::kChoice,
       .description = "what happens when the ranks can't all be placed as planned",
       .slot = at([](Job & j) -> auto& { return j.placement.policy; }),
       .choices = {{"Required", "no rank starts until all can be placed as planned"},
                   {"Preferred", "the ranks are placed as well as possible, and the cost is reported"}},
       .may_change = true});
  for (auto& field : resource_fields()) f.push_back(std::move(field));
  return f;
}

}  // namespace atl
