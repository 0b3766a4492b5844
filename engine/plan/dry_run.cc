#include "plan/dry_run.h"

#include <algorithm>

#include "base/threads.h"
#include "plan/dry_step.h"
#include "plan/dry_transport.h"

namespace atl {
namespace {

/// Over all links from `first` on.
TrafficBytes sent_since(const Ledger& before, const Ledger& after, Link first = Link::kIntra) {
  TrafficBytes sent{};
  for (int l = int(first); l < kLinks; ++l) {
    for (int p = 0; p < kTraffics; ++p) {
      sent[std::size_t(p)] += after.bytes(Link(l), Traffic(p)) - before.bytes(Link(l), Traffic(p));
    }
  }
  return sent;
}

ScheduleBytes most_of_each(const ScheduleBytes& a, const ScheduleBytes& b) {
  return {std::max(a.activations, b.activations), std::max(a.saved, b.saved),
          std::max(a.gradients, b.gradients), std::max(a.halo, b.halo)};
}

std::unique_ptr<Transport> transport_of(const DryRunInput& in) {
  const auto ranks = std::size_t(in.training.ranks);
  return make_dry_transport(in.training.rank,
                            in.hosts.empty() ? std::vector<std::string>(ranks, "nowhere") : in.hosts);
}

/// As between two steps (train/epoch_loop.cc); what comes after the last one counts as no training.
void sum_loss(Communicator& comm) {
  std::array<double, 4> sums{};
  comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
}

}  // namespace

Model planned_model(const Job& job, const FeatureShape& features, Index classes) {
  return job_model(job, features, classes);
}

DryRun dry_run(const DryRunInput& in) {
  const auto pool = ThreadPool::dry(in.threads);
  Workspace workspace(Device::kDry);
  Context ctx{Device::kDry, pool.get(), &workspace};
  Communicator comm(transport_of(in));
  const Model model = planned_model(in.job, in.features, in.classes);
  Parameters parameters(model.parameters(), in.job.training.seed,
                        placement_on(in.job, model, in.training.rank), ctx.device);
  DryStep step(ctx, comm, in.job.training.optimizer, in.multi_label, parameters);
  DryRun out;
  out.terms = step.bytes_of_terms();
  out.values = Index(parameters.values().size());
  out.trainable = Index(parameters.gradients().size());

  const bool halo_features = model.layers.front()->spec().gathers;
  Ledger before = comm.ledger();
  std::optional<DryPart> part;
  std::unique_ptr<Schedule> schedule;
  const auto schedule_of = [&](const DryPart& of) {
    return make_schedule({ctx, comm, in.job, model, parameters, of.part(), in.all_vertices, false});
  };
  for (const RankShape& shape : in.batches)
    out.batches.push_back(schedule_of(DryPart(shape, in.features, halo_features))->bytes());
  if (!in.batches.empty()) before = comm.ledger();  // each step goes on with another part
  bool is_later = false;
  for (const RankShape& shape : in.batches.empty() ? std::vector{in.training} : in.batches) {
    if (schedule && !schedule->takes_parts()) schedule.reset();
    part.emplace(shape, in.features, halo_features);
    if (schedule)
      schedule->take(part->part(), in.all_vertices);
    else
      schedule = schedule_of(*part);
    if (in.batches.empty()) before = comm.ledger();
    if (is_later) sum_loss(comm);
    is_later = true;
    schedule->train(1, step);
    out.schedule = most_of_each(out.schedule, schedule->bytes());
  }
  const Ledger trained = comm.ledger();
  out.epoch = sent_since(before, trained);
  out.epoch_between = sent_since(before, trained, Link::kInter);
  for (const NamedMatrix& each : schedule->state())
    out.state += Index(sizeof(Real)) * each.values.rows * each.values.cols;

  if (in.full) {
    const DryPart whole(*in.full, in.features, halo_features);
    const auto inference =
        make_schedule({ctx, comm, in.job, model, parameters, whole.part(), in.all_vertices, true});
    const Ledger made = comm.ledger();
    inference->infer();
    out.evaluation = sent_since(made, comm.ledger());
    out.inference = inference->bytes();
  } else {
    schedule->infer();
    out.evaluation = sent_since(trained, comm.ledger());
  }
  out.workspace = workspace.bytes();
  return out;
}

}  // namespace atl
