// One rank's part of a graph with the features of its rows, on which a schedule runs. A rank has one or, with
// setting: inductive, two: the training vertices' for training and the whole one for evaluation.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/server_graph.h"
#include "strategies/exchange/exchange.h"
#include "strategies/schedule/strategy.h"

namespace atl {

/// The form in which a run's model reads the data set's features. It is the stored one, except that bits
/// become dense rows where the input is dropped out, and where aggregating dense rows once (Propagate) costs
/// less than summing over neighbours twice in each epoch. Batches read rows sparse or dense, whichever costs
/// less, however ranks hold them (held_form()).
FeatureForm kept_form(const Job& job, const DatasetMeta& meta);
/// The form in which ranks that train on batches hold features that a model reads as `read`. It is the stored
/// one, in which they also travel.
FeatureForm held_form(const DatasetMeta& meta, FeatureForm read);
/// How ranks hold dense features of a data set that stores them as `stored`. Batches have dense rows as their
/// owners hold them. These are always Reals: columns of all vertices (P3), what batches unpack from packed
/// rows, and features that are read once (SIGN's).
Storage kept_storage(const Job& job, FeatureForm stored);
/// The shape of features in these forms.
FeatureShape feature_shape(const Job& job, const DatasetMeta& meta);

/// Neither copyable nor movable, because blocks and views point into it.
class PartData {
 public:
  /// Reads the rank's rows. induced_on: as in LocalizeOptions. Halo rows' features are read only with
  /// `halo_features`; a model whose first layer doesn't gather needs none. `form`: kept_form(), or what the
  /// model was trained on; bits only for features stored so.
  PartData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
           const DataShare& share, const VertexMarks& induced_on, FeatureForm form, bool halo_features);
  /// The rank's share of what its server holds, for training. Layers that read no copies
  /// (ServerOptions::beyond) read the part as it was divided: the one of `whole`, which must outlive this, or
  /// in inductive training that of the training vertices.
  PartData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
           const ServerOptions& server, const PartData& whole, FeatureForm form, bool halo_features);
  PartData(const PartData&) = delete;

  const GraphPart& part() const { return part_; }
  const LocalGraph& graph() const { return *graph_; }
  std::span<const VertexId> owned_ids() const {
    return std::span(graph_->ids).first(std::size_t(graph_->owned));
  }
  /// Copies part()'s arrays to the memory of ctx's device, unless that is the host's. Call it once. `stays`:
  /// the part lives as long as the job, so the stream is told its arcs.
  void place(Context& ctx, bool stays);
  /// Drops dense features.
  void release_features();

  /// Features of some rows.
  struct Features {
    Matrix dense;
    Csr sparse;
    Transpose transpose;
    SparseRows sparse_view;
    BitMatrix bits, bits_transposed;
    std::vector<Real> levels;
    BitRows bit_view;

    Rows read(const Dataset& dataset, std::span<const VertexId> vertices, const Job& job, FeatureForm form);
    /// Leaves out the transpose of packed rows, for rows that take no gradient.
    Rows read_rows(const Dataset& dataset, std::span<const VertexId> vertices, const Job& job,
                   FeatureForm form);

   private:
    void transpose_packed(FeatureForm form);
    Rows read_halves(const Dataset& dataset, std::span<const VertexId> vertices, bool normalise);
  };

 private:
  void list_near(int beyond);
  Block placed(Context& ctx, const Block& host);
  void place_near(Context& ctx);
  void drop_replaced(Replaces replaced);

  FeatureForm form_;
  std::unique_ptr<LocalGraph> graph_;
  Features own_, halo_, computed_;
  std::unique_ptr<PartView> view_;      // null: the strategy makes none
  std::deque<Features> read_features_;  // by list of view_'s reads()
  std::vector<NearBlock> near_;
  // its blocks serve the layers beyond the server's copies; null: beyond_'s do
  const PartData* whole_ = nullptr;
  std::unique_ptr<LocalGraph> beyond_;  // null: no layer is beyond the copies, or whole_ serves them
  std::vector<Real> row_weights_;
  GraphPart part_;
  std::optional<DeviceCopies> structure_, placed_features_;
  bool stays_ = false;
  std::vector<std::shared_ptr<const StayingArcs>> kept_;
};

}  // namespace atl
