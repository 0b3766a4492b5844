// The table of strategies: a schedule, and for full-batch ones the exchange that it runs over. A new one is a file in
// strategy/ or exchange/, its options in job/strategies/, and one line here.
#include "job/strategies/minibatch.h"
#include "job/strategies/smoothing.h"
#include "strategy/full_batch.h"
#include "strategy/mini_batch.h"
#include "strategy/schedule.h"

namespace atl {
namespace {

Passes passes_of(const ScheduleInput& in) {
  if (in.inference_only) return Passes::kInference;
  return in.job.training.recompute == Recompute::kLayer ? Passes::kRecomputing : Passes::kTraining;
}

std::unique_ptr<Schedule> full_batch_over(const ScheduleInput& in, MakeExchange make_exchange) {
  const FullBatchOptions options{in.job.training.seed, passes_of(in)};
  return std::make_unique<FullBatch>(in.ctx, in.comm, in.model, in.parameters, in.part, in.all_vertices,
                                     options, make_exchange);
}

/// `crossing`: as make_exact_exchange has it.
std::unique_ptr<Schedule> exact(const ScheduleInput& in, bool overlap,
                                std::unique_ptr<Crossing> crossing = nullptr) {
  return full_batch_over(in, [&](std::vector<ExchangedLayer> layers) {
    return make_exact_exchange(in.ctx, in.comm, in.part, std::move(layers), overlap, std::move(crossing));
  });
}

std::unique_ptr<Crossing> all_rows(const ScheduleInput& in) {
  return std::make_unique<WholeCrossing>(*in.part.graph, in.part.outer, in.job.strategy.wire);
}

std::unique_ptr<Schedule> make_graph(const ScheduleInput& in) {
  return exact(in, in.job.strategy.options.flag("overlap"), all_rows(in));
}

std::unique_ptr<Crossing> sampled(const ScheduleInput& in, double rate) {
  return make_sampled_crossing(in.ctx, *in.part.graph, in.part.outer,
                               {rate, in.job.training.seed, in.model.needs.attention, in.job.strategy.wire});
}

std::unique_ptr<Schedule> make_pipegcn(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  if (in.inference_only) return exact(in, true);
  const Smoothing smoothing = pipegcn_smoothing(options);
  const double rate = options.number("boundaryRate");
  const bool is_late = options.integer("staleness") > 0 && rate == 1;
  const PipeGcnOptions chosen{int(options.integer("staleness")),
                              smoothing.rows,
                              smoothing.gradients,
                              options.number("decay"),
                              options.flag("biasCorrection"),
                              is_late ? in.job.training.evaluate_every : 0};
  return full_batch_over(in, [&](const std::vector<ExchangedLayer>& layers) {
    return make_pipegcn_exchange(in.ctx, in.comm, in.part, layers, chosen,
                                 rate < 1 ? sampled(in, rate) : all_rows(in));
  });
}

std::unique_ptr<Schedule> make_bns(const ScheduleInput& in) {
  if (in.inference_only) return exact(in, true);
  return exact(in, true, sampled(in, in.job.strategy.options.number("rate")));
}

/// Of CAGNET's grid; others stand alone.
int replication_of(const Job& job) {
  const Options& options = job.strategy.options;
  return options.has("replication") ? int(options.integer("replication")) : 1;
}

std::unique_ptr<Schedule> make_cagnet(const ScheduleInput& in) {
  return full_batch_over(in, [&](std::vector<ExchangedLayer> layers) {
    return make_cagnet_exchange(in.ctx, in.comm, in.part, std::move(layers), replication_of(in.job),
                                in.job.strategy.wire);
  });
}

std::unique_ptr<Schedule> make_sancus(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  if (in.inference_only) return make_cagnet(in);
  using Rule = SancusOptions::Rule;
  const SancusOptions chosen{options.text("rule") == "fixed" ? Rule::kFixed : Rule::kBounded,
                             options.integer("warmup"),
                             options.integer("every"),
                             options.number("threshold"),
                             options.integer("staleness"),
                             options.text("gradients") == "always",
                             in.job.strategy.wire};
  return full_batch_over(in, [&](const std::vector<ExchangedLayer>& layers) {
    return make_sancus_exchange(in.ctx, in.comm, in.part, layers, chosen);
  });
}

/// Full-batch strategies: every rank holds every parameter whole.
Placement replicate(const Job&, Rank, int, int, const ParameterSpec&) {
  return {};
}

std::unique_ptr<Schedule> make_minibatch(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  const std::string& policy = options.text("cache.policy");
  const MiniBatchOptions chosen{.seed = in.job.training.seed,
                                .fanout = minibatch_fanout(in.job),
                                .replace = options.flag("replace"),
                                .batch_size = options.integer("batchSize"),
                                .ahead = int(options.integer("prefetch")),
                                .threads = in.side.count,
                                .cpus = in.side.cpus,
                                .mapped = options.text("structure") == "mapped",
                                .features = {.bfloat16 = in.job.strategy.wire == Precision::kBFloat16,
                                             .cache_bytes = options.integer("cache.bytes"),
                                             .policy = policy == "degree"       ? CachePolicy::kDegree
                                                       : policy == "presampled" ? CachePolicy::kPresampled
                                                                                : CachePolicy::kLru},
                                .passes = passes_of(in),
                                .reduces = in.job.model.norm == Norm::kBatch,
                                .slab_bytes = slab_bytes(in.job.resources.memory),
                                .epochs = in.job.training.epochs};
  return std::make_unique<MiniBatch>(in.ctx, in.comm, in.model, in.parameters, *in.batches, chosen);
}

struct Entry {
  const char* kind;
  bool exact_exchange;  // rows arrive in the step in which they were made (ModelInput::exact_exchange)
  Placement (*place)(const Job&, Rank rank, int ranks, int layer, const ParameterSpec&);
  std::unique_ptr<Schedule> (*make)(const ScheduleInput&);
  bool by_owner = false;  // halo rows are taken owner by owner (GraphPart::owners)
};

constexpr Entry kStrategies[] = {
    {"graph", true, replicate, make_graph},
    {"pipegcn", false, replicate, make_pipegcn},
    {"cagnet", true, replicate, make_cagnet, true},
    {"sancus", false, replicate, make_sancus, true},
    {"bns", true, replicate, make_bns},
    {"minibatch", true, replicate, make_minibatch},
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

std::optional<CagnetGrid> owner_grid(const Job& job, int ranks) {
  if (!entry_of(job.strategy.kind).by_owner) return std::nullopt;
  return CagnetGrid{ranks, replication_of(job)};
}

std::function<Placement(int, const ParameterSpec&)> placement_on(const Job& job, Rank rank, int ranks) {
  return [&job, rank, ranks, place = entry_of(job.strategy.kind).place](
             int layer, const ParameterSpec& spec) { return place(job, rank, ranks, layer, spec); };
}

std::unique_ptr<Schedule> make_schedule(const ScheduleInput& input) {
  return entry_of(input.job.strategy.kind).make(input);
}

}  // namespace atl
