// What a strategy makes of a rank's part for its own schedule: the part's arcs, cut in another way. There is
// one maker (Strategy::view). The run copies what it makes to its device; a plan measures it, and its dry run
// goes through a view of the same sizes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "graph/csr.h"
#include "job/job.h"
#include "partition/local_graph.h"

namespace atl {

class PartView;
class Schedule;
struct ScheduleInput;

/// What a view is made of. The rank's part outlives it; the rest is read while it is made.
struct ViewInput {
  const Job& job;
  const PreparedGraph& prepared;
  Rank rank = 0;
  /// The rank's part, which a plan cuts when it is first asked for: views of the prepared graph itself, such
  /// as blocks by owner, don't ask.
  FunctionRef<const LocalGraph&()> part;
  const LocalizeOptions& options;  // how the part is cut
};

/// Returns (rows × cols) with `arcs` arcs on Device::kDry, which lives as long as the dry part.
using DryArcs = FunctionRef<CsrView(Index rows, Index cols, Index arcs)>;

/// Which of the part's blocks nobody reads beside the view. Their arcs are freed.
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

/// One per part, owned by whoever owns the part. Not thread-safe while it is placed; immutable afterwards.
class PartView {
 public:
  virtual ~PartView() = default;
  /// Makes the schedule that runs on this view, which outlives it. in.holding is the view's part. Collective.
  virtual std::unique_ptr<Schedule> schedule(const ScheduleInput& in) const = 0;
  /// Puts what `placed` returns for each block, the same block in the device's memory, in the block's place,
  /// and `copies` of its other arrays that kernels read in theirs. Call it once at most, before a schedule is
  /// made.
  virtual void place(DeviceCopies& copies, FunctionRef<Block(const Block& host)> placed) = 0;
  /// Lists of the data set's vertices whose features are read list by list (GraphPart::read_features).
  virtual std::vector<std::span<const VertexId>> reads() const { return {}; }
  virtual std::shared_ptr<const ViewSizes> sizes() const = 0;
};

}  // namespace atl
