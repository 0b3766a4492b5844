#include "train/session.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/memory.h"
#include "base/threads.h"
#include "partition/prepared_graph.h"
#include "train/attempt.h"
#include "train/learning_rate.h"
#include "train/results.h"
#include "train/run_folder.h"
#include "train/run_setting.h"
#include "train/run_state.h"
#include "train/trainer.h"

namespace atl {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// One run of one rank, in the order of its members: data, model, loop, results.
class Session {
 public:
  Session(Communicator& comm, const SessionOptions& options)
      : comm_(comm),
        o_(options),
        job_(options.job),
        pool_(options.threads),
        ctx_{Device::kCpu, &pool_, &workspace_},
        dataset_(Dataset::open(options.dataset)),
        prepared_(PreparedGraph::open(dataset_, partition_options(job_, comm.size()), graph_transforms(job_),
                                      training_marks(dataset_, job_))),
        data_(job_, dataset_, prepared_, comm.rank()),
        best_(job_.training.early_stopping) {}

  Outcome run() {
    comm_.check_same("the manifest", o_.job_yaml);
    comm_.check_same("the data set", dataset_.meta().checksum);
    comm_.check_same("the prepared graph", prepared_.checksum());
    dataset_.forget();  // data_ has its own copy
    prepared_.forget();
    data_.count(comm_);
    if (data_.train.total == 0) fail_without_training_vertex();
    trainer_ = std::make_unique<Trainer>(ctx_, comm_, job_, data_);
    claim_output();
    resume();
    record_.startup_seconds = now_seconds() - o_.start_seconds;
    o_.observer->on_start(record_);
    const Outcome outcome = train();
    finish(outcome);
    return outcome;
  }

 private:
  bool root() const { return comm_.rank() == 0; }

  [[noreturn]] void fail_without_training_vertex() const {
    fail("dataset.split: split '{}' column {} of {} has no labelled training vertex; choose another split",
         job_.dataset.split, job_.dataset.split_column, dataset_.meta().name);
  }

  void claim_output() {
    std::int64_t attempt = root() ? claim_attempt(o_.output, o_.attempt) : 0;
    comm_.broadcast(Traffic::kSetup, 0, std::as_writable_bytes(std::span(&attempt, 1)));
    store_ = std::make_unique<CheckpointStore>(o_.output, int(attempt), job_.training.checkpoint.keep);
    record_.setting = run_setting(comm_, o_, dataset_.meta(), *trainer_);
  }

  /// Rank 0 chooses the newest whole checkpoint; every rank reads it.
  void resume() {
    std::string folder;
    if (root()) {
      store_->remove_partial();
      std::vector<std::string> warnings;
      if (const auto newest = store_->newest(warnings)) folder = newest->folder.string();
      for (const std::string& w : warnings) o_.observer->on_message(MessageLevel::kWarning, w);
    }
    const auto all = comm_.all_gather(Traffic::kSetup, std::as_bytes(std::span(folder)));
    folder.assign(reinterpret_cast<const char*>(all[0].data()), all[0].size());
    if (folder.empty()) return;
    const LoadedCheckpoint checkpoint =
        read_checkpoint_state(std::filesystem::path(folder) / "state.safetensors");
    load_state(checkpoint, job_, dataset_.meta(), *trainer_, best_);
    record_.resumed_from = last_checkpoint_ = checkpoint.state.epoch;
    if (root()) record_.epochs = read_epochs(o_.output, checkpoint.state.epoch);
  }

  Outcome train() {
    const TrainingSpec& t = job_.training;
    Index epoch = record_.resumed_from;
    Outcome outcome = best_.patience_over(epoch) ? Outcome::kStoppedEarly : Outcome::kCompleted;
    while (epoch < t.epochs && outcome == Outcome::kCompleted) {
      ++epoch;
      const bool stop = run_epoch(epoch);
      if (stop && epoch < t.epochs)
        outcome = Outcome::kInterrupted;
      else if (best_.patience_over(epoch))
        outcome = Outcome::kStoppedEarly;
      const bool due = t.checkpoint.every > 0 && epoch % t.checkpoint.every == 0;
      if (due || epoch == t.epochs || outcome != Outcome::kCompleted) checkpoint(epoch);
    }
    return outcome;
  }

  /// Trains, sums up, evaluates and tells. Returns whether some rank was asked to stop.
  bool run_epoch(Index epoch) {
    const TrainingSpec& t = job_.training;
    EpochRecord e;
    e.epoch = epoch;
    e.learning_rate = learning_rate_at(t.schedule, t.optimizer.learning_rate, epoch, t.epochs);
    const Ledger before = comm_.ledger();
    const double start = now_seconds();
    const double my_loss = trainer_->train_epoch(epoch, e.learning_rate);
    const double trained = now_seconds();
    const Ledger after = comm_.ledger();
    e.epoch_seconds = trained - start;

    std::array<double, 4> sums{my_loss, double(after.bytes(Link::kIntra) - before.bytes(Link::kIntra)),
                               double(after.bytes(Link::kInter) - before.bytes(Link::kInter)),
                               o_.stop != nullptr && o_.stop->load() ? 1.0 : 0.0};
    comm_.all_reduce(Traffic::kStatistics, std::span<double>(sums));
    e.loss = sums[0] / data_.train.total;
    e.bytes_intra = std::int64_t(sums[1]);
    e.bytes_inter = std::int64_t(sums[2]);
    const bool stop = sums[3] > 0;
    if (!std::isfinite(e.loss) || !trainer_->finite()) trainer_->explain_non_finite(epoch, last_checkpoint_);

    const bool due = t.evaluate_every > 0 && epoch % t.evaluate_every == 0;
    if (due || (epoch == t.epochs && best_.epoch() == 0)) evaluate_into(e);
    const double exposed = exposed_seconds(after) - exposed_seconds(before);
    e.own = sample(before, after, e.epoch_seconds - exposed, exposed, now_seconds() - trained);
    record_.epochs.push_back(e);
    o_.observer->on_epoch(e);
    return stop;
  }

  void evaluate_into(EpochRecord& e) {
    const Evaluation evaluation = trainer_->evaluate();
    e.train = evaluation.train;
    e.validation = evaluation.validation;
    e.test = evaluation.test;
    e.validation_loss = evaluation.validation_loss;
    best_.consider(e.epoch, evaluation, trainer_->parameters());
  }

  static double exposed_seconds(const Ledger& ledger) {
    double sum = 0;
    for (int p = 0; p < kTraffics; ++p) sum += ledger.exposed_seconds(Traffic(p));
    return sum;
  }

  /// This rank's own figures of an epoch, and their sums over the run.
  RankSample sample(const Ledger& before, const Ledger& after, double compute, double exposed,
                    double evaluation) {
    RankSample s;
    s.phases = {{"compute", compute},
                {"communication", exposed},
                {"evaluation", evaluation},
                {"checkpoint", checkpoint_seconds_}};
    checkpoint_seconds_ = 0;
    if (phases_.empty()) phases_.resize(s.phases.size());
    for (std::size_t i = 0; i < s.phases.size(); ++i) {
      phases_[i].name = s.phases[i].name;
      phases_[i].seconds += s.phases[i].seconds;
    }
    for (int l = 0; l < kLinks; ++l) {
      for (int p = 0; p < kTraffics; ++p) {
        const std::int64_t bytes =
            after.flow(Link(l), Traffic(p)).bytes - before.flow(Link(l), Traffic(p)).bytes;
        if (bytes > 0) s.traffic.push_back({link_name(Link(l)), traffic_name(Traffic(p)), bytes});
      }
    }
    s.resident_bytes = process_memory().resident_bytes;
    return s;
  }

  void checkpoint(Index epoch) {
    const double start = now_seconds();
    comm_.barrier();
    if (root()) store_->commit(state_of(*trainer_, best_, job_, dataset_.meta(), comm_.size(), epoch), false);
    comm_.barrier();
    last_checkpoint_ = epoch;
    o_.observer->on_checkpoint(epoch);
    checkpoint_seconds_ += now_seconds() - start;
  }

  void finish(Outcome outcome) {
    record_.outcome = outcome == Outcome::kCompleted      ? "completed"
                      : outcome == Outcome::kStoppedEarly ? "stopped early"
                                                          : "interrupted";
    record_.best_epoch = best_.epoch();
    record_.validation = best_.validation();
    record_.test = best_.test();
    record_.epoch_seconds_median = median_epoch_seconds(record_.epochs);
    for (Phase& p : phases_) {
      if (p.name == "checkpoint") p.seconds += checkpoint_seconds_;  // the last one's
    }
    best_.restore(trainer_->parameters());
    write_results(comm_, o_, data_, prepared_, dataset_, *trainer_, phases_, record_);
    o_.observer->on_result(record_);
    if (root()) write_report_of(o_, record_);
    comm_.barrier();
  }

  Communicator& comm_;
  const SessionOptions& o_;
  const Job& job_;
  ThreadPool pool_;
  Workspace workspace_;
  Context ctx_;
  Dataset dataset_;
  PreparedGraph prepared_;
  RankData data_;
  Best best_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<CheckpointStore> store_;
  RunRecord record_;
  std::vector<Phase> phases_;  // this rank's, over the run
  Index last_checkpoint_ = 0;
  double checkpoint_seconds_ = 0;  // since the last epoch's record
};

}  // namespace

Outcome run_session(Communicator& comm, const SessionOptions& options) {
  return Session(comm, options).run();
}

}  // namespace atl
