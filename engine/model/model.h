// A model: a list of layers and what it needs of the graph. Made from the manifest by the table in kinds.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "job/job.h"
#include "model/layer.h"

namespace atl {

/// Who drops out the rows that a layer reads.
enum class DropsOut {
  kMakers,   // the layer that makes them, with its own finish: they are read in the step that made them
  kReaders,  // each layer what it reads: rows may be of other steps, and are given the present step's mask
  // Own rows as kMakers, other ranks' as kReaders: what leaves for these isn't dropped out.
  kMakersAndReaders
};

/// What the data and the strategy say to a model that is being made.
struct ModelInput {
  Index features = 0;
  Index classes = 0;             // width of the last layer
  bool packed_features = false;  // multiplied as they are stored (tensor/rows.h)
  DropsOut drops_out = DropsOut::kMakers;
  /// A layer that transforms first sends its products to other ranks, and not its input's rows.
  bool sends_products = false;
  Index whole_features = 0;  // where `features` are some of their columns (model/gather.h); 0: they are all
};

/// What a model needs the graph to be.
struct GraphNeeds {
  Normalisation normalisation = Normalisation::kSum;
  SelfLoops self_loops = SelfLoops::kKeep;
  bool attention = false;  // transposed arcs must know their place
};

/// Neighbouring layers of a model.
struct LayerRange {
  int first = 0, end = 0;
  bool contains(int layer) const { return first <= layer && layer < end; }
};

/// What data are like, as far as it decides what layers cost.
struct DataCosts {
  bool bits = false;             // the features are bits
  double nonzeros_per_row = -1;  // of sparse features; −1: every column counts
  double arcs_per_vertex = 0;
};

struct Model {
  GraphNeeds needs;
  std::vector<std::unique_ptr<Layer>> layers;
  // of link prediction's; its number among layers is the one behind the last
  std::vector<ParameterSpec> decoder;
  DataCosts data;  // that it was made for
  // of what its layers compute, but for the last one's output, and of gradients
  Storage values = Storage::kReals;

  const LayerSpec& spec(int layer) const { return layers[std::size_t(layer)]->spec(); }
  /// By layer; where a decoder has some, these come last.
  std::vector<std::vector<ParameterSpec>> parameters() const;
  /// Leading layers that are constant: computed once where the input is fixed.
  int constant_prefix() const;
};

/// Throws Error naming the known models where spec.kind is none of them.
Model make_model(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input);

Storage storage_of(Precision precision);

/// What a model needs of the graph, before there is one: the partitioner asks.
GraphNeeds graph_needs(const ModelSpec& spec);

// Which self-loops a job's graph has.

/// kKeep, kAdd or kRemove. kModel, as a run has written it, means graph_needs() (job/load.h).
SelfLoops self_loops_of(const Job& job);

}  // namespace atl
