// A strategy as the engine sees it, beside its part of the manifest (job/strategies.h): one row of the table
// in strategies.cc. Nothing else asks which strategy a job has.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "dataset/dataset.h"
#include "graph/csr.h"
#include "job/job.h"
#include "job/layout.h"
#include "partition/local_graph.h"
#include "partition/server_graph.h"
#include "sampler/column_share.h"
#include "strategies/schedule/schedule.h"

namespace atl {

// What a strategy makes of a rank's part for its own schedule: the part's arcs, cut in another way. There is
// one maker (Strategy::view). The run copies what it makes to its device; a plan measures it, and its dry run
// goes through a view of the same sizes.

class PartView;

/// What a view is made of. The rank's part outlives it; the rest is read while it is made.
struct ViewInput {
  const Job& job;
  const PreparedGraph& prepared;
  Rank rank = 0;
  /// The rank's part. A plan cuts it only when it is first asked for. Views that are made of the prepared
  /// graph itself, such as blocks by owner, don't ask for it.
  FunctionRef<const LocalGraph&()> part;
  const LocalizeOptions& options;  // how the part is cut
};

/// Returns (rows × cols) with `arcs` arcs on Device::kDry, which lives as long as the dry part.
using DryArcs = FunctionRef<CsrView(Index rows, Index cols, Index arcs)>;

/// Which of the part's blocks the view replaces. Nothing else reads them, so their arcs are freed.
enum class Replaces { kNothing, kOuter, kBoth };

/// How large a view is, and what it needs of the part. Immutable, and small however many arcs the view has.
class ViewSizes {
 public:
  virtual ~ViewSizes() = default;
  /// Bytes of the view's arrays, beside those of the part.
  virtual Index bytes() const = 0;
  /// Where the outer block is replaced, other ranks may read any of the part's rows.
  virtual Replaces replaces() const { return Replaces::kNothing; }
  /// The length of each list of PartView::reads().
  virtual std::vector<Index> reads() const { return {}; }
  /// A view of these sizes without contents. `graph` is the dry part's, and outlives it.
  virtual std::unique_ptr<PartView> dry(const LocalGraph& graph, DryArcs arcs) const = 0;
};

/// One per part, owned by the part's owner. Not thread-safe while it is placed; immutable afterwards.
class PartView {
 public:
  virtual ~PartView() = default;
  /// Makes the schedule that runs on this view, which outlives it. in.holding is the view's part. Collective.
  virtual std::unique_ptr<Schedule> schedule(const ScheduleInput& in) const = 0;
  /// Moves the view to the device's memory. `placed` returns a block there for each of the view's blocks;
  /// `copies` copies its other arrays that kernels read. Call it once at most, before a schedule is made.
  virtual void place(DeviceCopies& copies, FunctionRef<Block(const Block& host)> placed) = 0;
  /// Lists of the data set's vertices whose features are read list by list (GraphPart::read_features).
  virtual std::vector<std::span<const VertexId>> reads() const { return {}; }
  virtual std::shared_ptr<const ViewSizes> sizes() const = 0;
};

/// What a rank reads from the data set and gives to its schedule (Holding).
enum class Holds {
  kPart,     // a part's arcs, the features of its rows, and those of other parts' rows that they read
  kBatches,  // features of its parts' rows, or columns of all rows; arcs as batches draw them
};

/// What a rank has of the data, and trains on. By default a part with all that belongs to it.
struct DataShare {
  PartRanks ranks{};     // its part, and one rank per part, with which it exchanges rows
  bool features = true;  // whether it has the features of its part's rows
  bool answers = true;   // whether it has labels and splits; inference gives logits here
  /// The ranks among which the columns of all vertices' features are divided, in the order of columns, with
  /// this rank; empty: it has all columns of its own vertices.
  std::vector<Rank> columns{};
  /// What the rank's server holds in the first epoch. The rank trains on a share of this; none: it trains on
  /// its part.
  std::optional<ServerOptions> server{};
};

/// Marks of the data set's vertices.
struct GraphMarks {
  VertexMarks induced_on;  // see LocalizeOptions
  VertexMarks counted;     // the vertices that training's loss counts
};

/// What a rank has of the model, and trains.
struct ModelShare {
  LayerRange layers;  // which it computes
  /// Says where a parameter of a layer is kept, as this rank sees it.
  std::function<Placement(int layer, const ParameterSpec& spec)> places;
  int in_flight = 1;  // batches trained at once; if several, each has its own weights and gradients
};

struct Strategy {
  std::string kind;
  /// Makes the schedule of a rank. Null: `view` is set, and the part's view makes it.
  std::unique_ptr<Schedule> (*make)(const ScheduleInput&) = nullptr;
  /// For Holds::kPart: makes what the strategy's schedules read of a part beside its own and outer blocks, or
  /// instead of them. Null: they read the part alone.
  std::unique_ptr<PartView> (*view)(const ViewInput&) = nullptr;
  /// ModelInput::drops_out; null: makers.
  DropsOut (*drops_out)(const Job&) = nullptr;
  /// ModelInput::sends_products; null: never.
  bool (*sends_products)(const Job&) = nullptr;
  Holds holds = Holds::kPart;
  /// Say what a rank has of the data and of the model; null: it has its part, and the whole model.
  void (*share_data)(const Job&, Rank, DataShare&) = nullptr;
  void (*share_model)(const Job&, const Model&, Rank, ModelShare&) = nullptr;
  /// Fills in what else the strategy's formula for bytes needs; null: nothing.
  void (*describe)(const Job&, const Model&, const PreparedGraph&, const GraphMarks&,
                   TrafficShape&) = nullptr;
};

/// The row of the job's strategy; the job was read, so it exists.
const Strategy& strategy_of(const Job& job);
/// Adds a strategy of the calling program to the table (add_strategy() of job/strategies.h names its
/// options). Call before the first job is read; not thread-safe.
void add_strategy(Strategy row);

/// The sizes of a data set that decide a model's shapes and costs.
struct FeatureShape {
  Index columns = 0;
  FeatureForm form = FeatureForm::kDense;  // as the model reads them
  FeatureForm held = FeatureForm::kDense;  // as ranks hold them, where they train on batches
  double nonzeros_per_row = 0;             // of sparse features
  double arcs_per_vertex = 0;
  Index whole_columns = 0;  // the number of all columns, where `columns` are some of them; 0: they are all
  Storage storage = Storage::kReals;  // of dense features
  bool packed() const { return form != FeatureForm::kDense; }
};
FeatureShape feature_shape(const DatasetMeta& meta, FeatureForm form);

/// The job's model for features of this shape, made for its strategy's exchange. With task linkPrediction its
/// outputs are embeddings, model.hidden wide, and `classes` is ignored.
Model job_model(const Job& job, const FeatureShape& features, Index classes);
/// What `rank` has of the job's data, and of its model. `ranks`: which part is whose, where each rank has its
/// own part.
DataShare data_share_of(const Job& job, Rank rank, const PartRanks& ranks = {});
ModelShare model_share_of(const Job& job, const Model& model, Rank rank);
/// The columns of the features that `rank` holds; none: it holds whole rows. Throws Error where a rank would
/// have no column.
std::optional<ColumnShare> columns_of(const Job& job, Rank rank, Index features);
/// The shape of the features that `rank` holds, where all have shape `whole`.
FeatureShape features_on(const Job& job, Rank rank, const FeatureShape& whole);
std::unique_ptr<Schedule> make_schedule(const ScheduleInput& input);

}  // namespace atl
