// Computes exact logits of all vertices, layer by layer. A rank computes each layer for its own rows, slab by
// slab. A slab reads the output of the layer before, also from the ranks that own other rows. Besides two
// layers' outputs for its own rows, a rank holds what one slab reads. Layers that append to their input
// (SIGN's powers) all work in the memory of the last one's output. Of that input a slab reads only the
// columns that it gathers.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "sampler/batch_sampling.h"
#include "sampler/feature_store.h"
#include "sampler/sampler.h"
#include "strategies/schedule/batch_pass.h"
#include "strategies/schedule/device_features.h"

namespace atl {

/// The size of a slab on a rank with `memory` bytes (0: not given): an eighth of them, at most 64 MiB.
Index slab_bytes(Index memory);

/// Fetches rows of features, where features don't lie with their rows' owners.
class InputRows {
 public:
  virtual ~InputRows() = default;
  /// Fills out (batch.rows().size(), F), in the host's memory, which grows if it must. Collective: every rank
  /// makes the same calls.
  virtual void fetch(const Batch& batch, Matrix& out) = 0;
  /// Memory used beside `out`.
  virtual Index bytes() const = 0;
};

/// The layers that read the features, where features don't lie with their rows' owners.
class FirstLayers {
 public:
  virtual ~FirstLayers() = default;
  /// Writes their output for own rows, slab by slab: slab i has the rows from begins[i] to begins[i + 1]. All
  /// ranks have equally many slabs and compute them in order. These layers end where the first of
  /// slab_segments() ends. Collective.
  virtual void infer(std::span<const Index> begins, MatrixView out) = 0;
  virtual void count(ScheduleBytes& bytes) const = 0;
};

struct SlabOptions {
  LayerRange layers{0, -1};     // the layers that are computed; end −1: to the last
  bool mapped = false;          // whether the structure is mapped_structure()
  Index bytes = slab_bytes(0);  // of a slab's widest input, approximately
  Index width = 0;  // columns of that input, where a slab's rows take more than the model's layers say
  std::uint64_t seed = 1;
  RowRoute route = kEvaluationRoute;
  InputRows* input = nullptr;                // fetches the features' rows; null: BatchGraph::features
  const DeviceFeatures* features = nullptr;  // features that the device has; null: the host has all
  FirstLayers* first = nullptr;              // replaces the first segment; null: it is like the others
  /// (owned, in) the input of the first of `layers`, in the device's memory, unless that is the model's first
  /// layer.
  ConstMatrixView input_rows{};
  /// (owned, out) where the output of the last of `layers` goes, in the host's memory; empty: the inference
  /// has memory for it.
  MatrixView output{};
};

/// The structure of the whole graph, for exact inference.
std::unique_ptr<Structure> whole_structure(const BatchGraph& graph, Communicator& comm, ThreadPool& pool,
                                           bool mapped, const RowRoute& route = kEvaluationRoute);
/// How a slab of some layers' rows is drawn: with all neighbours, where the layers gather.
SamplingOptions slab_sampling(const Model& model, const LayerRange& layers);

/// `layers`, with an end of −1 resolved to the model's last.
LayerRange slab_layers(const Model& model, const LayerRange& layers);
/// Which layers are computed together. Only the first of a segment may gather. A segment also begins behind
/// the tapped layer, whose output others read, and with the model's last layer, whose input is the
/// embeddings.
std::vector<LayerRange> slab_segments(const Model& model, const LayerRange& layers = {0, -1});

/// Where slabs of a rank's rows begin, and where the last ends. A slab's widest input takes about `bytes` at
/// most, unless a single row's takes more. `width` and `layers`: as in SlabOptions.
std::vector<Index> slab_begins(const Model& model, const CsrView& graph, const Owners& owners, Rank rank,
                               Index bytes, Index width = 0, const LayerRange& layers = {0, -1});

/// All calls are collective, by the compute thread. References must outlive it.
class LayerwiseInference {
 public:
  LayerwiseInference(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                     const BatchGraph& graph, const SlabOptions& options);

  /// The output with the present weights (owned, classes), or that of the last of SlabOptions::layers. In the
  /// device's memory; valid until the next call.
  ConstMatrixView infer();
  /// Moves out the result of infer().
  Matrix take() { return std::move(logits_); }
  /// After infer(): the last layer's input (owned, width). Valid until the next infer().
  ConstMatrixView embeddings() const { return last_input_; }
  void count(ScheduleBytes& bytes) const;

 private:
  /// One of slab_segments().
  struct Segment {
    LayerRange layers;
    std::unique_ptr<Sampler> sampler;
    std::unique_ptr<BatchPass> pass;
    std::unique_ptr<PassMemory> memory;
  };
  void make_segments();
  void align_slabs();
  /// Input of own rows: features in the host's memory, or layers' outputs in the device's.
  struct Input {
    Rows rows;
    bool is_features;
    DevicePlaces device{};
    RowPlaces places{};
  };
  Input features() const;
  Input made(ConstMatrixView rows) const;
  /// Whether the segment is a layer that appends to its input in the memory of the last such layer's output.
  bool appends(const Segment& segment) const {
    return segment.layers.first >= in_place_ && layer(segment.layers.first).spec().appends;
  }
  /// The columns of `in` that the segment gathers, if it appends to its input and isn't the first to do so;
  /// otherwise `in`.
  Input gathered(const Segment& segment, const Input& in) const;
  void append(Segment& segment, const RangeInput& input, MatrixView out);
  void run(Segment& segment, const Input& from, ConstMatrixView tap, MatrixView out);
  RangeInput input_rows(const Segment& segment, const Input& in, FeatureStore& store, Index begin);
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }
  Matrix& output_of(const Segment& segment);
  MatrixView room_for(const Segment& segment, Index rows);

  Context& ctx_;
  Communicator& comm_;
  const Model& model_;
  Parameters& parameters_;
  const BatchGraph& graph_;
  const SlabOptions options_;
  const LayerRange layers_;
  const int in_place_;  // first_in_place()
  LayerRunner runner_;
  Workspace host_workspace_;
  Context host_;  // for fetching rows, which the host does
  DeviceCopies copies_;
  HostRows host_rows_;
  std::unique_ptr<Structure> structure_;
  int tapped_ = -1;
  std::vector<Segment> segments_;
  std::vector<Index> slabs_;  // where slabs of own rows begin, and the end; equally many on all ranks
  Batch batch_;
  std::vector<VertexId> slab_;  // a slab's own rows, where features are packed
  std::vector<VertexId> own_;   // own rows' places on the device; empty: the host's memory is the device's
  RowSources sources_;
  SourcedRows sourced_;
  FeatureRows inputs_;
  Matrix buffers_[2], tap_, logits_;
  ConstMatrixView last_input_;
};

}  // namespace atl
