// Records a rank's steps and operations from its sizes alone.
#include "simulate/record.h"

#include <array>
#include <cstring>

#include "base/threads.h"
#include "plan/dry_step.h"

namespace atl {

RankRecording dry_recording(const DryRunInput& in, int epochs, const MachineRates* rates) {
  const auto pool = ThreadPool::dry(in.threads);
  Workspace workspace(Device::kDry);
  ComputeWork counted;
  Context ctx{Device::kDry, pool.get(), &workspace};
  ctx.count = &counted;
  RankNotes notes = rates != nullptr ? RankNotes(counted, *rates) : RankNotes(true);
  Trace trace(2);
  Communicator comm(make_lone_engine(in.training.rank, in.hosts, notes, false), &trace);
  const Model model = planned_model(in.job, in.features, in.classes);
  Parameters parameters(model.parameters(), in.job.training.seed,
                        model_share_of(in.job, model, in.training.rank).places, ctx.device);
  DryStep step(ctx, comm, in.job.training.optimizer, in.multi_label, parameters);
  const DryPart part(in.training, in.features, model.layers.front()->spec().gathers);
  const auto schedule =
      make_schedule({ctx, comm, in.job, model, parameters, part.part(), in.all_vertices, false});
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    notes.begin_epoch(epoch, trace);
    trace.begin_epoch(epoch);
    for (std::int64_t s = 1; s <= schedule->steps(); ++s) {
      if (schedule->steps() > 1) notes.work_on(int(s - 1));  // Trainer reports its batches in the same way
      schedule->train((epoch - 1) * schedule->steps() + s, step);
      std::array<double, 4> told{};  // ends a step as RecordedRank does
      comm.all_reduce(Traffic::kStatistics, std::span<double>(told));
    }
  }
  notes.stop();
  return notes.take();
}

namespace {

class LoneWatcher final : public StreamWatcher {
 public:
  explicit LoneWatcher(RankNotes& notes) : notes_(notes) {}
  void works_on(int unit) override { notes_.work_on(unit); }

 private:
  RankNotes& notes_;
};

class LoneEngine final : public ProgressEngine {
 public:
  LoneEngine(Rank rank, const std::vector<std::string>& hosts, RankNotes& notes, bool fills)
      : transport_(make_dry_transport(rank, hosts)), notes_(notes), watcher_(notes), fills_(fills) {}

  Transport& transport() override { return *transport_; }
  StreamWatcher* stream_watcher() override { return &watcher_; }
  void enqueue(std::shared_ptr<Operation> operation) override {
    notes_.start(*operation);
    fill(*operation);
    operation->finish();
    notes_.go_on();
  }
  void wait(Operation& operation) override {
    notes_.wait(operation);
    notes_.go_on();
  }
  void abandon() override {}
  double cpu_seconds() const override { return 0; }
  double busy_seconds() const override { return 0; }

 private:
  /// Fills received messages with zeros, which compute at full speed, in the first epoch only. From the
  /// second epoch on costs are noted, and filling would warm the cache for the work that is measured.
  void fill(const Operation& operation) {
    if (!fills_ || notes_.epoch() > 1) return;
    for (const Message& m : operation.receives) std::memset(m.data, 0, std::size_t(m.bytes));
  }

  std::unique_ptr<Transport> transport_;
  RankNotes& notes_;
  LoneWatcher watcher_;
  bool fills_;
};

}  // namespace

std::unique_ptr<ProgressEngine> make_lone_engine(Rank rank, const std::vector<std::string>& hosts,
                                                 RankNotes& notes, bool fills) {
  return std::make_unique<LoneEngine>(rank, hosts, notes, fills);
}

}  // namespace atl
