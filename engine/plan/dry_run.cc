#include "plan/dry_run.h"

#include "base/threads.h"
#include "plan/dry_transport.h"
#include "train/gradient.h"
#include "train/optimizer.h"

namespace atl {
namespace {

/// The session's side of a step, on labels that nobody reads.
class DryStep final : public TrainingStep {
 public:
  DryStep(Context& ctx, Communicator& comm, const DryRunInput& in, Parameters& parameters)
      : ctx_(ctx),
        in_(in),
        parameters_(parameters),
        gradient_(comm, parameters),
        optimizer_(in.job.training.optimizer, parameters) {}

  void loss(ConstMatrixView logits, std::span<const VertexId>, MatrixView d_logits) override {
    if (in_.multi_label) {
      const View<const std::uint8_t> targets(nullptr, logits.rows, logits.cols);
      binary_cross_entropy(ctx_, logits, targets, {}, 1, d_logits);
    } else {
      cross_entropy(ctx_, logits, nullptr, {}, 1, d_logits);
    }
  }
  void part_done(int layer, int part) override { gradient_.begin_part(layer, part); }
  void layer_done(int layer) override { gradient_.begin_sum(layer); }
  void update() override {
    gradient_.sum(ctx_);
    gradient_.finite(ctx_);
    gradient_.clip(ctx_, in_.job.training.optimizer.clip_norm);
    optimizer_.step(ctx_, 0);
    parameters_.zero_gradients();
  }

  Index bytes_of_terms() const { return gradient_.bytes(); }

 private:
  Context& ctx_;
  const DryRunInput& in_;
  Parameters& parameters_;
  Gradient gradient_;
  Optimizer optimizer_;
};

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

std::unique_ptr<Transport> transport_of(const DryRunInput& in) {
  const auto ranks = std::size_t(in.training.ranks);
  return make_dry_transport(in.training.rank,
                            in.hosts.empty() ? std::vector<std::string>(ranks, "nowhere") : in.hosts);
}

}  // namespace

Model planned_model(const Job& job, const FeatureShape& features, Index classes) {
  return job_model(job, features.columns, classes, features.packed());
}

DryRun dry_run(const DryRunInput& in) {
  const auto pool = ThreadPool::dry(in.threads);
  Workspace workspace;
  Context ctx{Device::kCpu, pool.get(), &workspace};
  Communicator comm(transport_of(in));
  const Model model = planned_model(in.job, in.features, in.classes);
  Parameters parameters(model.parameters(), in.job.training.seed,
                        placement_on(in.job, in.training.rank, in.training.ranks));
  DryStep step(ctx, comm, in, parameters);
  DryRun out;
  out.terms = step.bytes_of_terms();
  out.values = Index(parameters.values().size());
  out.trainable = Index(parameters.gradients().size());

  const bool halo_features = model.layers.front()->gathers();
  const DryPart part(in.training, in.features, halo_features);
  const auto schedule =
      make_schedule({ctx, comm, in.job, model, parameters, part.part(), in.all_vertices, false});
  const Ledger before = comm.ledger();
  schedule->train_epoch(1, step);
  const Ledger trained = comm.ledger();
  out.epoch = sent_since(before, trained);
  out.epoch_between = sent_since(before, trained, Link::kInter);
  out.schedule = schedule->bytes();
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
