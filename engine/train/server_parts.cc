#include "train/server_parts.h"

#include <chrono>

#include "base/cpus.h"
#include "base/error.h"
#include "base/threads.h"
#include "job/strategies.h"
#include "partition/server_graph.h"

namespace atl {
namespace {

VertexMarks induced_marks(const ShareSource& from) {
  const bool inductive = from.job.training.setting == Setting::kInductive;
  return inductive ? training_marks(from.dataset, from.job) : VertexMarks();
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

ServerParts::ServerParts(const ShareSource& from) : from_(from), rank_(from.whole.graph().rank) {
  ServerOptions options = from.server;
  if (options.batches == 1) return;
  options.induced_on = induced_marks(from);
  batches_ = server_batches(from.prepared, options, loss_marks(from.dataset, from.job), options.batches);
}

ServerParts::~ServerParts() {
  if (reading_.valid()) reading_.wait();
}

const std::string& ServerParts::strategy() const {
  return from_.job.strategy.row->kind;
}

bool ServerParts::is_other(Index epoch, int batch) const {
  if (taken_.epoch == 0) return true;
  return batch != taken_.batch || (epoch != taken_.epoch && from_.server.redraws);
}

ServerParts::Step ServerParts::after(const Step& step) const {
  return step.batch + 1 < batches() ? Step{step.epoch, step.batch + 1} : Step{step.epoch + 1, 0};
}

std::unique_ptr<TrainingPart> ServerParts::take(Index epoch, int batch, const std::vector<int>& cpus) {
  const Step step{epoch, batch};
  const bool is_read = reading_.valid() && next_ == step;
  if (reading_.valid() && !is_read) reading_.wait(), reading_ = {};  // the run goes on with another step
  const auto begin = std::chrono::steady_clock::now();
  std::unique_ptr<TrainingPart> part = is_read ? reading_.get() : read(step);
  waited_seconds_ += seconds_since(begin);
  taken_ = step, next_ = after(step);
  if (!are_many() || next_.epoch > Index(from_.job.training.epochs)) return part;
  reading_ = std::async(std::launch::async, [this, next = next_, cpus] {
    ThreadPool self(1);
    if (!cpus.empty()) keep_threads_on(self, cpus);
    return read(next);
  });
  return part;
}

/// Called by one thread at a time; sends no message.
std::unique_ptr<TrainingPart> ServerParts::read(const Step& step) const {
  try {
    ServerOptions options = from_.server;
    if (options.redraws) options.epoch = std::uint64_t(step.epoch);
    options.induced_on = induced_marks(from_);
    if (!batches_.empty()) options.batch = batches_[std::size_t(step.batch)];
    auto part = std::make_unique<TrainingPart>();
    part->data = std::make_unique<PartData>(from_.job, from_.dataset, from_.prepared, rank_, options,
                                            from_.whole, from_.use.form, from_.halo_features);
    part->read_labels(from_.job, from_.dataset, from_.use, training_marks(from_.dataset, from_.job));
    if (are_many()) from_.dataset.forget(), from_.prepared.forget();  // so that file pages don't stay
    return part;
  } catch (const Error& error) {
    if (batches_.empty()) throw;
    fail("epoch {}, step {}: its batch can't be read: {}", step.epoch, step.batch + 1, error.what());
  }
}

ServerParts::Sizes ServerParts::sizes() const {
  Sizes all{std::vector<double>(std::size_t(batches())), std::vector<double>(std::size_t(batches()))};
  if (from_.server.first_part != rank_) return all;
  const VertexMarks counts = loss_marks(from_.dataset, from_.job);
  for (std::size_t b = 0; b < batches_.size(); ++b) {
    all.own[b] = double(batches_[b].size());
    for (const VertexId row : batches_[b])
      all.training[b] += counts[from_.prepared.ids()[std::size_t(row)]] ? 1 : 0;
  }
  return all;
}

void TrainingPart::read_labels(const Job& job, const Dataset& dataset, const DataUse& use,
                               const VertexMarks& trains) {
  const auto ids = data->owned_ids().first(std::size_t(data->graph().counted));
  labels = atl::read_labels(job, dataset, use, ids);
  for (std::size_t row = 0; row < ids.size(); ++row)
    if (trains[ids[row]] && labels.has(row)) rows.push_back(VertexId(row));
  label_view = labels.view();
  placed_rows = rows;
}

void TrainingPart::place(Context& ctx, bool stays) {
  if (copies || memory_of(ctx.device).is_hosts) return;
  copies.emplace(ctx);
  label_view = on_device(*copies, label_view, Index(labels.classes.size()));
  placed_rows = copies->of(placed_rows);
  data->place(ctx, stays);
}

}  // namespace atl
