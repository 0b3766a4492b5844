// Recordings of a job without running any rank: what ranks send is exact, and their computing costs what
// their kernels' work takes at a machine's rates (record.h).
#include "simulate/record.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include "job/strategies/batch_options.h"
#include "plan/dry_batches.h"
#include "plan/dry_run.h"
#include "plan/traffic.h"
#include "strategies/schedule/strategy.h"

namespace atl {

Recording record_modelled(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                          const RecordOptions& options, const MachineRates& rates) {
  if (strategy_of(job).holds == Holds::kBatches)
    return record_modelled_batches(job, dataset, *batch_source(job, prepared), options, rates);
  DryInputs inputs(job, dataset, prepared, rank_traffic(job, dataset, prepared).parts, options.threads,
                   options.hosts);
  Recording recording{.epochs = options.epochs, .modelled = true, .rates = rates};
  for (Rank rank = 0; rank < Rank(inputs.ranks()); ++rank)
    recording.ranks.push_back(dry_recording(inputs.of(rank), options.epochs, &rates));
  return recording;
}

// Recordings of mini-batches without running any rank: record_modelled_batches().

namespace {

constexpr int kFewestSteps = 8;  // only the second half of the steps is judged

// What making batches takes beside messages (docs/simulate.md).

/// The cost of a drawn arc: it is drawn, its source gets a number, and it is put into the transpose.
/// kFlopsOfADraw is its computing, as the operations of a product that takes as long. kBytesOfADraw is the
/// bytes of the graph that are gathered.
constexpr double kFlopsOfADraw = 50 * kTermFlops, kBytesOfADraw = 400;
/// The cost of looking whether an arc's source is in a drawn set: a call, and a look-up in a table that fits
/// a core's own cache.
constexpr double kFlopsOfALook = 14 * kTermFlops;

/// The work of making an epoch's batches.
ComputeWork making(const DryBatches& of, double row_bytes) {
  const double rows = of.read_rows * row_bytes, all_rows = double(of.owned) * row_bytes;
  ComputeWork work{.product_flops = of.drawn_arcs * kFlopsOfADraw + of.looked_at * kFlopsOfALook};
  work += gathered(of.drawn_arcs * kBytesOfADraw, double(of.arcs) * sizeof(VertexId));
  work += gathered(rows, all_rows);
  work += streamed(rows, all_rows);
  return work;
}

/// Notes training on batches as ranks would. Each step is an epoch, so that epochs are alike.
class BatchSteps final : public DryNotes {
 public:
  BatchSteps(const std::vector<std::string>& hosts, const MachineRates& rates)
      : hosts_(hosts), rates_(rates) {}

  std::unique_ptr<ProgressEngine> begin(Rank rank, Trace*& trace) override {
    One& one = ranks_.emplace_back(rates_);
    trace = &one.trace;
    return make_lone_engine(rank, hosts_, one.notes, false);
  }
  ComputeWork* counted() override { return &ranks_.back().counted; }
  void begin_step(std::int64_t step) override {
    One& one = ranks_.back();
    one.trace.begin_epoch(step);
    one.notes.begin_epoch(step, one.trace);
    one.notes.take_batch();
    one.notes.go_on();
  }
  void end() override { ranks_.back().notes.stop(); }
  RankRecording take(Rank rank) { return ranks_[std::size_t(rank)].notes.take(); }

 private:
  struct One {
    explicit One(const MachineRates& rates) : notes(counted, rates) {}
    ComputeWork counted;
    Trace trace{2};
    RankNotes notes;
  };
  const std::vector<std::string>& hosts_;
  const MachineRates& rates_;
  std::deque<One> ranks_;
};

/// One round of messages between `rank` and all others, with a share `part` of the bytes that they send in an
/// epoch.
RecordedOperation round_of(const std::vector<DryBatches>& all, Rank rank, Traffic purpose, double part) {
  RecordedOperation op{.lane = Lane::kPrefetch, .purpose = purpose};
  const auto bytes = [&](Rank from, Rank to) {
    return std::int64_t(part * double(all[std::size_t(from)].to[std::size_t(to)][std::size_t(purpose)]));
  };
  for (Rank peer = 0; peer < Rank(all.size()); ++peer) {
    if (peer == rank) continue;
    if (const auto sent = bytes(rank, peer); sent > 0) op.sends.push_back({peer, sent});
    if (const auto got = bytes(peer, rank); got > 0) op.receives.push_back({peer, got});
  }
  return op;
}

/// The making of a batch of mean size: it is drawn and its features are read, with its messages in between.
RecordedBatch batch_of(const std::vector<DryBatches>& all, Rank rank, double seconds) {
  RecordedBatch batch;
  const DryBatches& own = all[std::size_t(rank)];
  const double steps = double(own.steps);
  const auto rounds_of = [&](Traffic purpose) {
    return std::lround(own.rounds[std::size_t(purpose)] / steps);
  };
  for (const Traffic purpose : {Traffic::kStructure, Traffic::kIds, Traffic::kFeatures})
    for (long round = 0, rounds = rounds_of(purpose); round < rounds; ++round)
      if (RecordedOperation op = round_of(all, rank, purpose, 1 / (steps * double(rounds)));
          !op.sends.empty() || !op.receives.empty())
        batch.operations.push_back(std::move(op));
  const WorkLabel label{.work = Work::kSampling};
  const double each = seconds / double(batch.operations.size() + 1);
  using Kind = RecordedStep::Kind;
  for (int op = 0; op < int(batch.operations.size()); ++op) {
    batch.steps.push_back({.kind = Kind::kCompute, .seconds = each, .label = label});
    batch.steps.push_back({.kind = Kind::kStart, .operation = op, .label = label});
    batch.steps.push_back({.kind = Kind::kWait, .operation = op, .label = label});
  }
  batch.steps.push_back({.kind = Kind::kCompute, .seconds = each, .label = label});
  return batch;
}

/// Appends the recording to itself, `times` times.
void repeat(RankRecording& rank, int times) {
  const auto steps = rank.steps;
  const auto operations = rank.operations;
  for (int i = 1; i < times; ++i) {
    const int behind = int(rank.operations.size());
    rank.operations.insert(rank.operations.end(), operations.begin(), operations.end());
    for (RecordedStep step : steps) {
      if (step.operation >= 0) step.operation += behind;
      rank.steps.push_back(step);
    }
  }
}

}  // namespace

Recording record_modelled_batches(const Job& job, const Dataset& dataset, const BatchSource& source,
                                  const RecordOptions& options, const MachineRates& rates) {
  BatchSteps noted(options.hosts, rates);
  const std::vector<DryBatches> all =
      dry_batches(job, dataset, source, options.threads, options.hosts, &noted);
  const std::int64_t steps = std::max<std::int64_t>(all.front().steps, 1);
  const int recorded = int(std::min<std::int64_t>(steps, kPlannedBatches));
  const int times = (kFewestSteps + recorded - 1) / recorded;
  const double row_bytes = sizeof(Real) * double(dataset.meta().features);
  Recording recording{.epochs = recorded * times, .steps = double(steps), .modelled = true, .rates = rates};
  for (Rank rank = 0; rank < Rank(all.size()); ++rank) {
    const DryBatches& of = all[std::size_t(rank)];
    const double seconds = seconds_of(making(of, row_bytes), rates) / double(steps);
    // Explanations train masks on the cores that also make batches.
    const double beside = seconds_of(of.beside, rates) / double(steps);
    RankRecording made = noted.take(rank);
    repeat(made, times);
    made.batches.makers =
        all.size() > 1 ? 1 : batch_threads(job, options.threads);  // ranks exchange in one order
    made.batches.ahead = int(job.strategy.options.integer("prefetch"));
    made.batches.all.assign(std::size_t(recording.epochs), batch_of(all, rank, seconds + beside));
    recording.ranks.push_back(std::move(made));
  }
  return recording;
}

}  // namespace atl
