// The rows of `placement` and `resources`: how many ranks, where, with what.
#include "job/fields.h"

namespace atl {
namespace {

std::vector<Field> resource_fields() {
  std::vector<Field> f;
  f.push_back(
      {.path = "resources", .description = "of each rank", .mutability = Mutability::kWhileSuspended});
  f.push_back({.path = "resources.cpu",
               .type = FieldType::kCores,
               .description = "cores of a rank; locally its threads, rounded down",
               .slot = at([](Job & j) -> auto& { return j.resources.cpu; }),
               .unit = "cores",
               .minimum = 0,
               .maximum = 4096,
               .default_text = "the machine's cores shared out",
               .may_change = true});
  f.push_back({.path = "resources.memory",
               .type = FieldType::kBytes,
               .description = "memory of a rank",
               .slot = at([](Job & j) -> auto& { return j.resources.memory; }),
               .unit = "bytes",
               .minimum = 0,
               .default_text = "no limit",
               .may_change = true});
  f.push_back({.path = "resources.nvidia.com/gpu",
               .type = FieldType::kInteger,
               .description = "1 puts the rank on a GPU",
               .slot = at([](Job & j) -> auto& { return j.resources.gpus; }),
               .minimum = 0,
               .maximum = 1,
               .may_change = true});
  return f;
}

std::vector<Field> partitioner_fields() {
  std::vector<Field> f;
  const std::string path = "placement.partitioner";
  f.push_back(
      {.path = path, .description = "how vertices are shared out among ranks", .shorthand = {"kind"}});
  f.push_back({.path = path + ".kind",
               .type = FieldType::kChoice,
               .description = "the method",
               .slot = at([](Job & j) -> auto& { return j.placement.partitioner.kind; }),
               .choices = {{"metis", "few arcs between parts, balanced vertices, arcs and training vertices"},
                           {"hash", "by a hash of the vertex: balanced, and most arcs between parts"},
                           {"range", "equal ranges of vertex ids"}},
               .may_change = true});
  f.push_back({.path = path + ".seed",
               .type = FieldType::kInteger,
               .description = "of the method's random choices",
               .slot = at([](Job & j) -> auto& { return j.placement.partitioner.seed; }),
               .minimum = 0,
               .may_change = true,
               .used_with = {path + ".kind", {"metis", "hash"}}});
  f.push_back({.path = path + ".objective",
               .type = FieldType::kChoice,
               .description = "what metis makes small",
               .slot = at([](Job & j) -> auto& { return j.placement.partitioner.objective; }),
               .choices = {{"volume", "rows that are exchanged"}, {"cut", "arcs between parts"}},
               .may_change = true,
               .used_with = {path + ".kind", {"metis"}}});
  return f;
}

}  // namespace

std::vector<Field> placement_fields() {
  std::vector<Field> f;
  f.push_back({.path = "placement",
               .description = "how many ranks, and where they stand",
               .mutability = Mutability::kWhileSuspended});
  f.push_back({.path = "placement.ranks",
               .type = FieldType::kInteger,
               .description = "number of processes",
               .slot = at([](Job & j) -> auto& { return j.placement.ranks; }),
               .minimum = 1,
               .maximum = 4096,
               .may_change = true});
  f.push_back({.path = "placement.ranksPerServer",
               .type = FieldType::kInteger,
               .description = "consecutive ranks that share a server; 0 = as the strategy's layout says",
               .slot = at([](Job & j) -> auto& { return j.placement.ranks_per_server; }),
               .minimum = 0,
               .maximum = 4096,
               .may_change = true});
  for (auto& field : partitioner_fields()) f.push_back(std::move(field));
  f.push_back({.path = "placement.topologyLevels",
               .type = FieldType::kTextList,
               .description = "node labels from the coarsest level to the finest",
               .slot = at([](Job & j) -> auto& { return j.placement.topology_levels; }),
               .default_text = "[kubernetes.io/hostname]",
               .may_change = true});
  f.push_back({.path = "placement.levelWeights",
               .type = FieldType::kNumberList,
               .description = "cost of a byte that crosses each of topologyLevels",
               .slot = at([](Job & j) -> auto& { return j.placement.level_weights; }),
               .minimum = 0,
               .default_text = "a tenth of the level above",
               .may_change = true});
  f.push_back(
      {.path = "placement.within",
       .type = FieldType::kText,
       .description = "one of topologyLevels: all ranks stand inside one of its domains, or none starts",
       .slot = at([](Job & j) -> auto& { return j.placement.within; }),
       .default_text = "the whole cluster",
       .may_change = true});
  f.push_back({.path = "placement.policy",
               .type = FieldType::kChoice,
               .description = "when the plan can't be met",
               .slot = at([](Job & j) -> auto& { return j.placement.policy; }),
               .choices = {{"Required", "all ranks placed as planned or none starts"},
                           {"Preferred", "best effort, cost reported"}},
               .may_change = true});
  for (auto& field : resource_fields()) f.push_back(std::move(field));
  return f;
}

}  // namespace atl
