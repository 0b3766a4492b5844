// The table of strategies: a schedule, and for full-batch ones the exchange that it runs over. A new one is a file in
// strategy/ or exchange/, its options in job/strategies/, and one line here.
#include "strategy/full_batch.h"
#include "strategy/schedule.h"

namespace atl {
namespace {

std::unique_ptr<Schedule> make_graph(const ScheduleInput& in) {
  const bool overlap = in.job.strategy.options.flag("overlap");
  const bool recompute = in.job.training.recompute == Recompute::kLayer;
  const FullBatchOptions options{in.job.training.seed, in.inference_only ? Passes::kInference
                                                       : recompute       ? Passes::kRecomputing
                                                                         : Passes::kTraining};
  return std::make_unique<FullBatch>(in.ctx, in.comm, in.model, in.parameters, in.part, in.all_vertices,
                                     options, [&](std::vector<ExchangedLayer> layers) {
                                       return make_exact_exchange(in.ctx, in.comm, in.part, std::move(layers),
                                                                  overlap);
                                     });
}

/// Full-batch strategies: every rank holds every parameter whole.
Placement replicate(const Job&, Rank, int, int, const ParameterSpec&) {
  return {};
}

struct Entry {
  const char* kind;
  bool exact_exchange;  // rows arrive in the step in which they were made (ModelInput::exact_exchange)
  Placement (*place)(const Job&, Rank rank, int ranks, int layer, const ParameterSpec&);
  std::unique_ptr<Schedule> (*make)(const ScheduleInput&);
};

constexpr Entry kStrategies[] = {
    {"graph", true, replicate, make_graph},
};

const Entry& entry_of(const std::string& kind) {
  for (const Entry& e : kStrategies) {
    if (kind == e.kind) return e;
  }
  ATOLL_CHECK(false, "strategy {} passed validation and has no schedule", kind);
}

}  // namespace

Model job_model(const Job& job, Index features, Index classes, bool packed_features) {
  const bool exact = entry_of(job.strategy.kind).exact_exchange;
  return make_model(job.model, job.training, {features, classes, packed_features, exact});
}

std::function<Placement(int, const ParameterSpec&)> placement_on(const Job& job, Rank rank, int ranks) {
  return [&job, rank, ranks, place = entry_of(job.strategy.kind).place](
             int layer, const ParameterSpec& spec) { return place(job, rank, ranks, layer, spec); };
}

std::unique_ptr<Schedule> make_schedule(const ScheduleInput& input) {
  return entry_of(input.job.strategy.kind).make(input);
}

}  // namespace atl
