// Samplers that draw vertices for a whole step: the sets that its layers may read, the same on all ranks.
// Each kind is a file in kinds/ and a line in kinds/kinds.cc.
//
// A set is drawn by what it is for (seed, step, layer, vertex or number of the draw). Each rank then computes
// its own seeds' share of the step: from the last layer to the first it reads of its rows' arcs those from
// vertices of the layer's set. What a row reads is thus the same whoever computes it, and a step learns the
// same on any number of ranks that own the same parts.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "comm/communicator.h"
#include "graph/csr.h"
#include "sampler/kept_arcs.h"
#include "sampler/seeds.h"
#include "sampler/structure.h"

namespace atl {

/// What a manifest says of them; each kind reads some.
struct SetOptions {
  std::vector<Index> layer_sizes{};  // by gathering layer, the one nearest to the input first: vertices drawn
  Index draws = 0;                   // of a step: vertices, arcs or walks
  int walk_length = 0;
  int merged = 0;  // parts of a step
  /// How often a vertex is drawn before training, on average, to count what is drawn together.
  int coverage = 0;
};

/// What a kind is made of. References outlive it.
struct SetInput {
  /// Of the graph that training sees. Asked for this rank's rows alone, so that nothing is exchanged.
  Structure& own_rows;
  const Owners& owners;
  Communicator& comm;
  std::span<const VertexId> ids;  // (vertices) the data set's; own ones are read
  const TrainingRows& training;   // this rank's
  std::span<const Index> training_by_part;
  int layers = 0;  // that gather
  Normalisation normalisation = Normalisation::kSum;
  bool attention = false;  // arcs have no factors
  std::uint64_t seed = 1;
  SetOptions options{};

  Rank rank() const { return comm.rank(); }
  Index vertices() const { return owners.first_row(owners.ranks()); }
};

/// One per sampling thread.
class StepSets {
 public:
  virtual ~StepSets() = default;
  /// seeds: prepared rows of this rank, each once. Collective.
  virtual void draw(std::int64_t step, std::span<const VertexId> seeds) = 0;
  /// Of the gathering layers, the one nearest to the input being 0. Valid until draw().
  virtual const KeptArcs& of_layer(int layer) const = 0;
  /// Where the sets say which vertices the step trains on; null: batches of the training vertices are.
  virtual StepSeeds* seeds() { return nullptr; }
  /// How often its memory had to grow.
  virtual Index reallocations() const = 0;
  /// What the last draw() sends where these ranks draw together: told by pair of ranks.
  using Sent = FunctionRef<void(Rank from, Rank to, Index bytes)>;
  virtual void count_sent(const Owners& /*ranks*/, Sent /*sent*/) const {}
};

/// Collective.
using MakeSets = std::unique_ptr<StepSets> (*)(const SetInput&);

}  // namespace atl
