#include "plan/dry_run.h"

#include <algorithm>

#include "base/error.h"
#include "base/threads.h"
#include "job/strategies.h"
#include "partition/server_graph.h"
#include "plan/dry_step.h"
#include "plan/rank_shape.h"
#include "train/labels.h"
#include "train/rank_data.h"

namespace atl {
namespace {

/// Bytes sent between two states of a ledger, over all links from `first` on.
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

/// Sums the loss as between two steps (train/epoch_loop.cc). Sums after the last step don't count as
/// training.
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
                        model_share_of(in.job, model, in.training.rank).places, ctx.device);
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
  if (!in.batches.empty()) before = comm.ledger();  // building the schedules above doesn't count
  bool is_later = false;
  for (const RankShape& shape : in.batches.empty() ? std::vector{in.training} : in.batches) {
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

namespace {

std::vector<PeerRows> peer_rows(std::span<const PeerShape> peers) {
  std::vector<PeerRows> rows;
  Index received = 0;
  for (const PeerShape& p : peers) {
    rows.push_back({p.peer, std::vector<VertexId>(std::size_t(p.send)), received, p.receive, 0, p.send_slices,
                    p.receive_slices});
    received += p.receive;
  }
  return rows;
}

}  // namespace

DryPart::DryPart(const RankShape& shape, const FeatureShape& features, bool halo_features) {
  graph_.rank = shape.rank;
  graph_.owned = shape.owned;
  graph_.boundary = shape.boundary;
  graph_.halo = shape.halo;
  graph_.ids.resize(std::size_t(shape.owned + shape.halo));
  graph_.peers = peer_rows(shape.peers);
  const std::span<const VertexId> ids(graph_.ids);
  part_.graph = &graph_;
  part_.own.arcs = csr(shape.owned, shape.owned, shape.own_arcs);
  part_.own.transpose = part_.own.arcs;
  part_.own.dst_ids = part_.own.src_ids = ids.first(std::size_t(shape.owned));
  part_.own.dst_are_sources = true;
  part_.ids = part_.own.dst_ids;
  if (shape.features) part_.features = rows(shape.owned, features, features_);
  if (shape.view)
    view_ = shape.view->dry(graph_, [&](Index dst, Index src, Index arcs) { return csr(dst, src, arcs); });
  part_.view = view_.get();
  cut_near(shape);
  if (shape.copies > 0) row_weights_.resize(std::size_t(shape.owned));
  part_.row_weights = row_weights_;
  const bool replaced = shape.replaced() != Replaces::kNothing;
  part_.boundary = replaced || !shape.near.empty() ? shape.owned : shape.boundary;
  if (halo_features && shape.view)
    for (const Index count : shape.view->reads())
      part_.read_features.push_back(rows(count, features, read_features_.emplace_back()));
  if (replaced) return;
  part_.outer.dst_ids = part_.own.dst_ids;
  part_.outer.arcs = csr(shape.owned, shape.halo, shape.outer_arcs);
  part_.outer.transpose = csr(shape.halo, shape.owned, shape.outer_arcs);
  part_.outer.src_ids = ids.subspan(std::size_t(shape.owned));
  if (halo_features && shape.features) part_.halo_features = rows(shape.halo, features, halo_features_);
  if (halo_features && features.packed() && !shape.near.empty() && shape.near.back().rows < shape.owned)
    part_.computed_features = rows(shape.near.back().rows, features, computed_features_);
}

void DryPart::cut_near(const RankShape& shape) {
  const std::span<const VertexId> ids(graph_.ids);
  for (const NearShape& each : shape.near) {
    const std::vector<PeerRows>& peers = near_peers_.emplace_back(peer_rows(each.peers));
    NearRows& near = part_.near.emplace_back(NearRows{each.rows, each.sources, each.halo, {}, {}, peers});
    near.own.arcs = csr(each.rows, each.sources, each.own_arcs);
    near.own.transpose = csr(each.sources, each.rows, each.own_arcs);
    near.outer.arcs = csr(each.rows, each.halo, each.outer_arcs);
    near.outer.transpose = csr(each.halo, each.rows, each.outer_arcs);
    near.own.dst_ids = near.outer.dst_ids = ids.first(std::size_t(each.rows));
    near.own.src_ids = ids.first(std::size_t(each.sources));
    near.outer.src_ids = ids.subspan(std::size_t(shape.owned), std::size_t(each.halo));
    near.own.dst_are_sources = true;
  }
}

CsrView DryPart::csr(Index rows, Index cols, Index arcs) {
  const Allocation claimed = dry_memory().allocate((std::size_t(rows) + 1) * sizeof(Index));
  auto* memory = static_cast<Index*>(claimed.data);
  offsets_.emplace_back(memory, ReleaseMemory{Device::kDry});
  memory[rows] = rows == 0 ? 0 : arcs;
  return {rows, cols, memory, nullptr, nullptr};
}

Rows DryPart::rows(Index count, const FeatureShape& shape, Features& features) {
  const auto nonzeros = Index(double(count) * shape.nonzeros_per_row);
  switch (shape.form) {
    case FeatureForm::kDense:
      features.dense.resize(1, reals_of(count * shape.columns, shape.storage), Device::kDry);
      return ConstMatrixView(features.dense.data(), count, shape.columns, shape.storage);
    case FeatureForm::kSparse:
      features.sparse = {csr(count, shape.columns, nonzeros), csr(shape.columns, count, nonzeros)};
      return &features.sparse;
    case FeatureForm::kBits:
      features.bits = {{count, shape.columns}, {shape.columns, count}};
      return &features.bits;
  }
  ATOLL_CHECK(false, "features in form {}", int(shape.form));
}

DryInputs::DryInputs(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     std::vector<int> part_of_rank, int threads, std::vector<std::string> hosts)
    : job_(job),
      dataset_(dataset),
      prepared_(prepared),
      part_of_rank_(std::move(part_of_rank)),
      threads_(threads),
      hosts_(std::move(hosts)),
      servers_(job, prepared),
      model_(planned_model(job, feature_shape(job, dataset.meta()), dataset.meta().classes)) {
  if (job.training.setting == Setting::kInductive) marks_ = training_marks(dataset, job);
  if (!share(0).server) return;
  counted_ = loss_marks(dataset, job);
  count_batches();
}

/// Counts the batches that servers can train: each batch needs a training vertex on at least one server.
void DryInputs::count_batches() {
  for (int part = 0; part < prepared_.parts();) {
    const ServerOptions server = *data_share_of(job_, part).server;
    part = server.first_part + server.parts;
    const auto rows =
        prepared_.ids().subspan(std::size_t(prepared_.part_offsets()[std::size_t(server.first_part)]));
    const auto own = rows.first(std::size_t(prepared_.part_offsets()[std::size_t(part)] -
                                            prepared_.part_offsets()[std::size_t(server.first_part)]));
    most_batches_ =
        std::max<Index>(most_batches_, std::ranges::count_if(own, [&](VertexId id) { return counted_[id]; }));
  }
  const int batches = server_batches_of(job_);
  if (batches > 1 && most_batches_ > 0 && batches > most_batches_)
    fail("{}", too_many_batches(job_.strategy.row->kind, batches, most_batches_));
}

DataShare DryInputs::share(Rank rank) const {
  return data_share_of(job_, rank, PartRanks(part_of_rank_));
}

RankShape DryInputs::shape_of(Rank rank, const VertexMarks& induced_on) const {
  const PartRanks parts = share(rank).ranks;
  const int part = parts.part_of(rank);
  RankShape shape = rank_shape(prepared_, part, induced_on);
  if (const auto view = strategy_of(job_).view; view != nullptr) {
    const GraphNeeds& needs = model_.needs;
    const LocalizeOptions options{needs.normalisation, needs.attention, induced_on, parts};
    std::unique_ptr<const LocalGraph> graph;
    const auto cut = [&]() -> const LocalGraph& {
      if (graph == nullptr) graph = localize(prepared_, rank, options);
      return *graph;
    };
    shape.view = view({job_, prepared_, rank, cut, options})->sizes();
    if (graph != nullptr) add_slices(*graph, shape);
  }
  return on_ranks(std::move(shape), parts, ranks());
}

DryRunInput DryInputs::of(Rank rank) {
  const DatasetMeta& meta = dataset_.meta();
  DryRunInput in{job_,
                 feature_shape(job_, meta),
                 meta.classes,
                 meta.multi_label,
                 double(meta.vertices),
                 threads_,
                 {},
                 {},
                 {},
                 {},
                 hosts_};
  const DataShare here = share(rank);
  const bool by_server = here.server.has_value();
  if (by_server) {
    in.batches = servers_.of(rank, {marks_, counted_}, ranks());
    in.training = in.batches[servers_.largest()];
    if (in.batches.size() == 1) in.batches.clear();
  } else {
    in.training = shape_of(rank, marks_);
  }
  if (!marks_.empty() || by_server) in.full = shape_of(rank, {});
  if (const int beyond = by_server ? servers_.beyond() : 0; beyond > 0) {
    if (!marks_.empty()) in.beyond = shape_of(rank, marks_);
    add_beyond(in.beyond ? *in.beyond : *in.full, beyond, in.training);
  }
  const LayerRange layers = model_share_of(job_, model_, rank).layers;
  for (RankShape* shape : {&in.training, in.full ? &*in.full : &in.training}) {
    shape->features = here.features, shape->answers = here.answers;
    shape->layers = layers;
  }
  return in;
}

}  // namespace atl
