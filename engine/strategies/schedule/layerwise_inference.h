// Exact logits of all vertices, layer by layer: each layer is computed for some of a rank's rows after the
// other, which read what the layer before has left at all ranks. Beside two layers' outputs of its own rows a
// rank holds what one slab of them reads.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sampler/batch_graph.h"
#include "sampler/column_rows.h"
#include "sampler/feature_store.h"
#include "sampler/sampler.h"
#include "strategies/schedule/batch_pass.h"
#include "strategies/schedule/device_features.h"

namespace atl {

/// For a rank with so much memory (0: not stated): an eighth of it, at most 64 MiB.
Index slab_bytes(Index memory);

/// The layers that read the features, where these don't lie with their rows' owners.
class FirstLayers {
 public:
  virtual ~FirstLayers() = default;
  /// What they make of own rows, slab by slab: of slab i those from begins[i] to begins[i + 1]; as many slabs
  /// on all ranks, each after the one before. Their end is the first of slab_segments()'s. Collective.
  virtual void infer(std::span<const Index> begins, MatrixView out) = 0;
  virtual void count(ScheduleBytes& bytes) const = 0;
};

struct SlabOptions {
  LayerRange layers{0, -1};     // that are computed; end −1: to the last
  bool mapped = false;          // structure, as SamplingOptions' maker has it
  Index bytes = slab_bytes(0);  // of a slab's widest input, about
  Index width = 0;              // of that input, where a row of a slab takes more than the model's layers say
  std::uint64_t seed = 1;
  RowRoute route = kEvaluationRoute;
  InputRows* input = nullptr;  // where the features' rows are fetched from; null: BatchGraph::features
  const DeviceFeatures* features = nullptr;  // what the device has of these; null: the host gives it all
  FirstLayers* first = nullptr;              // in place of the first segment; null: it is as the others
  /// (owned, in) of the first of `layers`, in the device's memory, where that isn't the model's first.
  ConstMatrixView input_rows{};
};

/// Of the whole graph, for exact inference.
std::unique_ptr<Structure> whole_structure(const BatchGraph& graph, Communicator& comm, ThreadPool& pool,
                                           bool mapped, const RowRoute& route = kEvaluationRoute);
/// Of a slab of some layers' rows: all neighbours, where they gather.
SamplingOptions slab_sampling(const Model& model, const LayerRange& layers);

/// Of a model's layers.
LayerRange slab_layers(const Model& model, const LayerRange& layers);
/// Which layers are computed together: the first of them alone may gather. One more begins behind the tapped
/// layer, whose output others read, and one with the model's last, whose input are the embeddings.
std::vector<LayerRange> slab_segments(const Model& model, const LayerRange& layers = {0, -1});

/// Where slabs of a rank's rows begin, and the end: whose widest input takes about `bytes` at most, if not
/// one row's takes more. `width` and `layers`: as SlabOptions has them.
std::vector<Index> slab_begins(const Model& model, const CsrView& graph, const Owners& owners, Rank rank,
                               Index bytes, Index width = 0, const LayerRange& layers = {0, -1});

/// All calls are collective, by the compute thread. References outlive it.
class LayerwiseInference {
 public:
  LayerwiseInference(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                     const BatchGraph& graph, const SlabOptions& options);

  /// (owned, classes), or what the last of SlabOptions::layers makes, with the present weights, in the
  /// device's memory; valid until the next call.
  ConstMatrixView infer();
  /// What infer() gave, which isn't here any more.
  Matrix take() { return std::move(logits_); }
  /// After infer(): the last layer's input (owned, width), likewise.
  ConstMatrixView embeddings() const { return last_input_; }
  void count(ScheduleBytes& bytes) const;

 private:
  /// Of slab_segments().
  struct Segment {
    LayerRange layers;
    std::unique_ptr<Sampler> sampler;
    std::unique_ptr<BatchPass> pass;
    std::unique_ptr<PassMemory> memory;
  };
  void make_segments();
  void align_slabs();
  /// Of own rows: features in the host's memory, and what layers made of them in the device's.
  struct Input {
    Rows rows;
    bool is_features;
    DevicePlaces device{};
    RowPlaces places{};
  };
  Input features() const;
  Input made(ConstMatrixView rows) const;
  void run(Segment& segment, const Input& in, ConstMatrixView tap, MatrixView out);
  RangeInput input_rows(const Segment& segment, const Input& in, FeatureStore& store, Index begin);
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }
  Matrix& output_of(const Segment& segment);

  Context& ctx_;
  Communicator& comm_;
  const Model& model_;
  Parameters& parameters_;
  const BatchGraph& graph_;
  const SlabOptions options_;
  const LayerRange layers_;
  LayerRunner runner_;
  Workspace host_workspace_;
  Context host_;  // rows are fetched by the host
  DeviceCopies copies_;
  HostRows host_rows_;
  std::unique_ptr<Structure> structure_;
  int tapped_ = -1;
  std::vector<Segment> segments_;
  std::vector<Index> slabs_;  // begins, and the end, of own rows; as many on all ranks
  Batch batch_;
  std::vector<VertexId> slab_;  // a slab's own rows, where their features are packed
  std::vector<VertexId> own_;   // own rows as places of a device; empty: the host's memory is the device's
  RowSources sources_;
  SourcedRows sourced_;
  FeatureRows inputs_;
  Matrix turns_[2], tap_, logits_;
  ConstMatrixView last_input_;
};

}  // namespace atl
