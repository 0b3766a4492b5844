// Samplers that draw vertices for a whole step: the sets that its layers may read, the same on all ranks.
// Each kind is a file in kinds/ and a line in kinds/kinds.h.
//
// A draw is keyed by (purpose, seed, step, layer, vertex or number of the draw). Each rank then computes the
// step for its own seeds. From the last layer to the first it reads only those of its rows' arcs that come
// from vertices of the layer's set. So a row reads the same whichever rank computes it, and a step learns the
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

/// A manifest's options for these samplers; each kind reads some of them.
struct SetOptions {
  std::vector<Index> layer_sizes{};  // vertices drawn, by gathering layer, the one nearest to the input first
  Index draws = 0;                   // per step: vertices, arcs or walks
  int walk_length = 0;
  int merged = 0;  // parts merged per step
  /// How often, on average, a vertex is drawn before training, to count which vertices are drawn together.
  int coverage = 0;
};

/// The arguments of a kind's constructor. References outlive the sampler.
struct SetInput {
  /// The graph that training sees. It is asked only for this rank's rows, so that nothing is exchanged.
  Structure& own_rows;
  const Owners& owners;
  Communicator& comm;
  std::span<const VertexId> ids;  // (vertices) the data set's ids; only own ones are read
  const TrainingRows& training;   // this rank's
  std::span<const Index> training_by_part;
  int layers = 0;  // number of layers that gather
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
  /// `seeds`: prepared rows of this rank, each once. Collective.
  virtual void draw(std::int64_t step, std::span<const VertexId> seeds) = 0;
  /// The arcs that a gathering layer reads; layer 0 is nearest to the input. Valid until draw().
  virtual const KeptArcs& of_layer(int layer) const = 0;
  /// The step's seeds if the sets choose them; null: seeds are batches of the training vertices.
  virtual StepSeeds* seeds() { return nullptr; }
  /// How often its memory had to grow.
  virtual Index reallocations() const = 0;
  /// Calls `sent` for each message that the last draw() would send if `ranks` drew together.
  using Sent = FunctionRef<void(Rank from, Rank to, Index bytes)>;
  virtual void count_sent(const Owners& /*ranks*/, Sent /*sent*/) const {}
};

/// Makes a sampler. Collective.
using MakeSets = std::unique_ptr<StepSets> (*)(const SetInput&);

}  // namespace atl
