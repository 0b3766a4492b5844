// A model: a list of layers, and what it needs of the graph. The table in kinds.h makes it from the manifest.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "job/job.h"
#include "model/layer.h"

namespace atl {

/// Who drops out the rows that a layer reads.
enum class DropsOut {
  kMakers,   // the layer that makes them, in its finish: they are read in the same step
  kReaders,  // the layer that reads them: rows may be of other steps, and get the present step's mask
  // own rows as kMakers, other ranks' rows as kReaders: rows travel without dropout
  kMakersAndReaders
};

/// What the data and the strategy determine about a model that is made.
struct ModelInput {
  Index features = 0;
  Index classes = 0;             // width of the last layer
  bool packed_features = false;  // multiplied as they are stored (tensor/rows.h)
  DropsOut drops_out = DropsOut::kMakers;
  /// A layer that transforms before it aggregates sends its products to other ranks, instead of its input's
  /// rows.
  bool sends_products = false;
  // How many columns the whole features have, where this rank holds only `features` of them (model/gather.h);
  // 0: it holds all.
  Index whole_features = 0;
};

/// What a model needs the graph to be.
struct GraphNeeds {
  Normalisation normalisation = Normalisation::kSum;
  SelfLoops self_loops = SelfLoops::kKeep;
  bool attention = false;  // transposed arcs must know their place among the arcs
};

/// Consecutive layers of a model: first … end − 1.
struct LayerRange {
  int first = 0, end = 0;
  bool contains(int layer) const { return first <= layer && layer < end; }
};

/// The properties of the data that decide what layers cost.
struct DataCosts {
  bool bits = false;             // the features are bits
  double nonzeros_per_row = -1;  // of sparse features; −1: dense
  double arcs_per_vertex = 0;
};

struct Model {
  GraphNeeds needs;
  std::vector<std::unique_ptr<Layer>> layers;
  // for link prediction; its layer number follows the last layer's
  std::vector<ParameterSpec> decoder;
  DataCosts data;  // of the data that the model was made for
  // how the rows that layers compute and their gradients are stored; not the last layer's output
  Storage values = Storage::kReals;

  const LayerSpec& spec(int layer) const { return layers[std::size_t(layer)]->spec(); }
  /// The parameters by layer. A decoder's, if there are any, come last.
  std::vector<std::vector<ParameterSpec>> parameters() const;
  /// How many leading layers are constant: they are computed once where the input is fixed.
  int constant_prefix() const;
};

/// Ends the program unless each layer's tap is an earlier layer, behind the leading constant ones. Outputs of
/// these are made once, and no pass keeps them for a later layer to read.
void check_taps(const Model& model);

/// The first of these layers whose output shares memory with the output of the last one, because each layer
/// after it appends to its input. There must be at least one layer.
int first_in_place(const Model& model, const LayerRange& layers);

/// Throws Error naming the known models where spec.kind is unknown.
Model make_model(const ModelSpec& spec, const TrainingSpec& training, const ModelInput& input);

Storage storage_of(Precision precision);

/// What a model needs of the graph. The partitioner asks before there is a graph.
GraphNeeds graph_needs(const ModelSpec& spec);

// Which self-loops a job's graph has.

/// Returns kKeep, kAdd or kRemove. kModel in a run's manifest means what graph_needs() says (job/load.h).
SelfLoops self_loops_of(const Job& job);

}  // namespace atl
