#include "simulate/dry_recording.h"

#include <array>

#include "base/threads.h"
#include "plan/dry_step.h"
#include "simulate/lone_engine.h"

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
                        placement_on(in.job, model, in.training.rank), ctx.device);
  DryStep step(ctx, comm, in.job.training.optimizer, in.multi_label, parameters);
  const DryPart part(in.training, in.features, model.layers.front()->spec().gathers);
  const auto schedule =
      make_schedule({ctx, comm, in.job, model, parameters, part.part(), in.all_vertices, false});
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    notes.begin_epoch(epoch, trace);
    trace.begin_epoch(epoch);
    for (std::int64_t s = 1; s <= schedule->steps(); ++s) {
      if (schedule->steps() > 1) notes.work_on(int(s - 1));  // as Trainer tells of batches
      schedule->train((epoch - 1) * schedule->steps() + s, step);
      std::array<double, 4> told{};  // as RecordedRank's
      comm.all_reduce(Traffic::kStatistics, std::span<double>(told));
    }
  }
  notes.stop();
  return notes.take();
}

}  // namespace atl
