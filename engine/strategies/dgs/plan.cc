// What strategy `dgs` adds to a plan: the bytes, memory and work of explaining beside training, as
// Explanations does it.
#include <set>

#include "plan/memory.h"
#include "plan/strategy_plan.h"
#include "strategies/dgs/info.h"
#include "strategies/dgs/star_pass.h"

namespace atl {
namespace {

/// The size of the explanation graph: the vertices of other ranks that the rank reads, and the arcs to them.
struct Star {
  Index others = 0, cut = 0;
};

Star star_of(const BesideInput& in) {
  std::set<VertexId> others;
  Star star;
  std::vector<VertexId> buffer;
  for (Index row = in.owners.first_row(in.rank); row < in.owners.first_row(in.rank + 1); ++row)
    for (const VertexId source : in.source.sources(row, buffer))
      if (!in.owners.owns(in.rank, source)) others.insert(source), ++star.cut;
  star.others = Index(others.size());
  return star;
}

/// Masks are trained for `epochs` epochs. Gradients go back to the features too, which have a mask.
EpochWork explaining_work(const Model& model, const std::vector<LayerRows>& star, double others,
                          double epochs) {
  constexpr int kNoInputIsFixed = -1;
  std::vector<LayerSize> sizes;
  for (std::size_t l = 0; l < star.size(); ++l) {
    const double outputs = double(star[l].outputs), arcs = model.layers[l]->spec().gathers ? 2 * others : 0;
    sizes.push_back({epochs * outputs, epochs * (double(star[l].inputs) - outputs), epochs * arcs});
  }
  return batch_work(model, sizes, false, kNoInputIsFixed);
}

/// Counts the memory that explaining takes, without kernels' scratch memory.
void count_held(const BesideInput& in, const Model& model, const std::vector<LayerRows>& rows,
                const Star& star, DryRun& run) {
  PassMemory memory(Device::kDry, model, {0, int(model.layers.size())}, Passes::kTraining);
  memory.store_reals();
  memory.shape(rows);
  ScheduleBytes of_star;
  memory.count(of_star);
  const Index features = in.features.columns, classes = model.layers.back()->spec().out;
  const Index reals =
      3 * (1 + star.others) * features + 2 * star.others * widest_gathered(model) + run.trainable;
  run.state += Index(sizeof(Real)) * (2 + run.values + classes + features + star.others);
  run.schedule.saved += of_star.total() + Index(sizeof(Real)) * reals + run.state +
                        8 * (in.owners.rows(in.rank) + 1 + star.cut) + 12 * star.others;
}

void count_explaining(const BesideInput& in, BatchTraffic& sent, DryBatches& out) {
  const std::int64_t every = steps_between_masks(in.job, in.features.columns);
  if (every == 0 || in.owners.ranks() == 1) return;
  const double times = double(out.steps) / double(every);  // explanations per epoch
  if (explains_features(in.job, in.features.columns)) sent.add_choices(in.rank, times);
  const Star star = star_of(in);
  const Model model = planned_model(in.job, in.features, in.classes);
  const std::vector<LayerRows> rows = star_rows(model, star.others);
  out.beside += explaining_work(model, rows, double(star.others), times * double(epochs_of_masks(in.job)));
  count_held(in, model, rows, star, out.run);
}

}  // namespace

StrategyPlan dgs_plan() {
  return {.kind = "dgs", .beside = count_explaining};
}

}  // namespace atl
