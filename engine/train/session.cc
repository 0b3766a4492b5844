#include "train/session.h"

#include <algorithm>
#include <optional>

#include "base/cpus.h"
#include "base/text.h"
#include "base/threads.h"
#include "job/strategies.h"
#include "telemetry/run_folder.h"
#include "tensor/device_stream.h"
#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/run_state.h"
#include "train/epoch_loop.h"
#include "train/results.h"

namespace atl {
namespace {

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kCompleted:
      return "completed";
    case Outcome::kStoppedEarly:
      return "stopped early";
    case Outcome::kInterrupted:
      break;
  }
  return "interrupted";
}

constexpr std::int64_t kStillReading = -1;

/// Side threads share the rank's processors with training's threads: each kind works while the other waits.
SideThreads side_threads(const SessionOptions& options) {
  const StrategyInfo& strategy = *options.job.strategy.row;
  if (strategy.side_threads == nullptr) return {0, {}};
  return {strategy.side_threads(options.job, options.threads), options.cpus};
}

Device device_of(const SessionOptions& options) {
  return options.device == nullptr ? Device::kCpu : options.device->device;
}
DeviceStream& stream_of(const SessionOptions& options) {
  return options.device == nullptr ? host_stream() : options.device->stream();
}

/// The graph that ranks read. If its checksum is known, each rank first compares its share of the files with
/// it, and none reads on before all have done so.
PreparedGraph open_prepared(Communicator& comm, const SessionOptions& o, const Dataset& dataset) {
  PreparedGraph prepared = PreparedGraph::open(dataset, partition_options(o.job, comm.size()),
                                               graph_transforms(o.job), training_marks(dataset, o.job));
  if (o.prepared_checksum.empty()) return prepared;
  prepared.verify_share(o.prepared_checksum, comm.rank(), comm.size());
  comm.check_same("checksum of the prepared graph", o.prepared_checksum);
  return prepared;
}

/// One run of one rank, in the order of its members: data, model, loop, results.
class Session {
 public:
  Session(Communicator& comm, const SessionOptions& options)
      : comm_(comm),
        o_(options),
        job_(options.job),
        side_(side_threads(options)),
        pool_(options.threads),
        workspace_(device_of(options)),
        ctx_{device_of(options), &pool_, &workspace_, &stream_of(options)},
        dataset_(Dataset::open(options.dataset, options.prepared)),
        prepared_(open_prepared(comm, options, dataset_)),
        data_(job_, dataset_, prepared_, comm.rank(), PartRanks(options.parts)),
        best_(job_.training.early_stopping),
        meter_(comm) {}

  Outcome run() {
    if (!o_.cpus.empty()) bind_threads(pool_, o_.cpus);
    check_same();
    if (comm_.trace() != nullptr) clocks_ = measure_clock_offsets(comm_);
    reserve_memory();
    dataset_.forget();  // data_ has its own copy
    prepared_.forget();
    trainer_ = std::make_unique<Trainer>(ctx_, comm_, job_, data_, side_);
    if (report_finished()) return Outcome::kCompleted;
    claim_output();
    resume();
    give_advice();
    record_.startup_seconds = steady_seconds() - o_.start_seconds;
    o_.observer->on_start(record_);
    const PartsOnRanks parts = parts_on_ranks();
    EpochLoop loop(
        {comm_, o_, dataset_.meta(), data_, *trainer_, best_, *store_, parts, meter_, epoch_, record_});
    const Outcome outcome = loop.run();
    finish(outcome);
    return outcome;
  }

 private:
  bool root() const { return comm_.rank() == 0; }

  /// Checks that all ranks have the same inputs, and that there is something to train on.
  void check_same() {
    comm_.check_same("build", o_.build);
    comm_.check_same("manifest", o_.job_yaml);
    comm_.check_same("data set", dataset_.meta().checksum);
    comm_.check_same("prepared graph", prepared_.checksum());
    comm_.check_same("parts", parts_text(o_.parts));
    comm_.check_same("device", ctx_.device == Device::kCpu ? "cpu" : "cuda");
    data_.count(comm_);
    if (data_.train.total > 0) return;
    if (data_.links() != nullptr)
      fail("{}: has no edge split; import it again with --edge-split random:85/5/10, or given",
           dataset_.meta().name);
    fail("dataset.split: split '{}' column {} of {} has no labelled training vertex; choose another split",
         job_.dataset.split, job_.dataset.split_column, dataset_.meta().name);
  }

  /// Reserves the device's memory before anything is put there.
  void reserve_memory() {
    if (ctx_.device == Device::kCpu || !o_.planned_bytes) return;
    const Index bytes = o_.planned_bytes(dataset_, prepared_);
    if (bytes == 0) return;
    reserve_.emplace(ctx_.device, bytes);
    if (reserve_->is_made()) return;
    o_.observer->on_message(
        MessageLevel::kWarning,
        fmt::format("rank {} is planned to hold {} of the GPU's memory, and less is left: it asks for it "
                    "piece by piece, and may end with the first that can't be had",
                    comm_.rank(), bytes_text(double(bytes))));
  }

  void claim_output() {
    std::int64_t attempt = root() ? claim_attempt(o_.output, o_.attempt) : 0;
    comm_.broadcast(Traffic::kSetup, 0, std::as_writable_bytes(std::span(&attempt, 1)));
    store_ = std::make_unique<CheckpointStore>(o_.output, int(attempt), job_.training.checkpoint.keep);
    record_.setting = run_setting(comm_, o_, dataset_.meta(), *trainer_);
  }

  /// Where the run has finished before, reports how it ended, trains nothing, and changes no file.
  bool report_finished() {
    std::optional<RunRecord> run;
    if (root() && has_checkpoint(o_.output)) run = finished_run(o_.output, job_, dataset_.meta().checksum);
    std::string text = run ? run_document(*run) : "";
    text.resize(std::size_t(broadcast_size(std::int64_t(text.size()))));
    if (text.empty()) return false;
    comm_.broadcast(Traffic::kSetup, 0, std::as_writable_bytes(std::span(text)));
    if (!root()) run = parse_run_document(text);
    o_.observer->on_message(MessageLevel::kInfo, finished_words(*run, job_));
    o_.observer->on_result(*run);
    comm_.barrier();
    return true;
  }

  /// Rank 0 reads the newest intact checkpoint and sends it to the others, which needn't see its disk.
  void resume() {
    std::optional<LoadedCheckpoint> checkpoint;
    if (root()) {
      store_->remove_partial();
      std::vector<std::string> warnings;
      checkpoint = store_->newest(warnings, [&] { broadcast_size(kStillReading); });
      for (const std::string& w : warnings) o_.observer->on_message(MessageLevel::kWarning, w);
    }
    if (!share(checkpoint)) return;
    load_state(*checkpoint, job_, dataset_.meta(),
               {trainer_->parameters(), trainer_->optimizer(), best_, epoch_});
    const Reached at = checkpoint->state.reached;
    check_steps(*checkpoint);
    record_.resumed_from = at.epochs;
    record_.resumed_steps = at.steps;
    if (record_.resumed_from > job_.training.epochs)
      o_.observer->on_message(
          MessageLevel::kWarning,
          fmt::format("{} epochs are trained already, and training.epochs asks for {}: none is taken back",
                      record_.resumed_from, job_.training.epochs));
    if (!read_part_states(comm_, *store_, at, parts_on_ranks(), trainer_->state()))
      o_.observer->on_message(
          MessageLevel::kWarning,
          fmt::format("the checkpoint's {} belong to other parts or ranks: training goes on without them",
                      job_.strategy.row->kept_rows));
    if (root()) record_.epochs = read_epochs(o_.output, at.epochs);
  }

  /// If the checkpoint was written in the middle of an epoch, checks that epochs still have as many steps.
  /// With other parts, an epoch of clusters has another number of steps, and another number of clusters comes
  /// before the checkpoint's step.
  void check_steps(const LoadedCheckpoint& checkpoint) const {
    const Index at = checkpoint.state.reached.steps;
    if (at == 0 || (epoch_.steps == trainer_->steps() && at <= epoch_.steps)) return;
    fail(
        "{}: holds step {} of an epoch of {}, and this run's epochs have {}; take as many parts and ranks as "
        "before, or start over with --fresh",
        checkpoint.file.path().string(), at, epoch_.steps, trainer_->steps());
  }

  /// Gives the strategy's advice on this run.
  void give_advice() {
    if (!root()) return;
    const RunFacts run{.columns = dataset_.meta().features,
                       .steps = trainer_->steps() * job_.training.epochs};
    for (const std::string& advice : job_.strategy.row->advise(job_, run))
      o_.observer->on_message(MessageLevel::kWarning, advice);
  }

  PartsOnRanks parts_on_ranks() const {
    const PartRanks order(o_.parts);
    PartsOnRanks parts{prepared_.checksum(), {}};
    for (Rank rank = 0; rank < comm_.size(); ++rank) parts.part.push_back(order.part_of(rank));
    return parts;
  }

  /// Returns rank 0's `size` on every rank.
  std::int64_t broadcast_size(std::int64_t size) {
    comm_.broadcast(Traffic::kSetup, 0, std::as_writable_bytes(std::span(&size, 1)));
    return size;
  }

  /// Sends rank 0's checkpoint to every rank; false where there is none. While rank 0 reads, the others hear
  /// from it.
  bool share(std::optional<LoadedCheckpoint>& checkpoint) {
    std::int64_t size = broadcast_size(checkpoint ? std::int64_t(checkpoint->file.bytes().size()) : 0);
    while (size == kStillReading) size = broadcast_size(0);
    if (size == 0) return false;
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    if (root()) std::ranges::copy(checkpoint->file.bytes(), bytes.begin());
    comm_.broadcast(Traffic::kSetup, 0, bytes);
    if (!root())
      checkpoint = checkpoint_state_of(SafetensorsFile::parse(std::move(bytes), "rank 0's checkpoint"));
    return true;
  }

  /// Writes the run's files, from the best epoch's weights.
  void finish(Outcome outcome) {
    record_.outcome = name_of(outcome);
    record_.best_epoch = best_.epoch();
    record_.validation = best_.validation();
    record_.test = best_.test();
    record_.epoch_seconds_median = median_epoch_seconds(record_.epochs);
    best_.restore(trainer_->parameters());
    write_results(ctx_, comm_, o_, data_, prepared_, dataset_, *trainer_, meter_.phases(), record_);
    if (const std::string diverged = divergence(record_.epochs); root() && !diverged.empty())
      o_.observer->on_message(MessageLevel::kWarning, diverged +
                                                          " (lower training.optimizer.learningRate, or set "
                                                          "training.optimizer.clipNorm)");
    o_.observer->on_result(record_);
    if (root()) write_report_of(o_, record_);
    if (comm_.trace() != nullptr)
      write_trace(comm_, *comm_.trace(), clocks_, last_epoch() - o_.trace_epochs + 1, o_.trace);
    comm_.barrier();
  }

  Index last_epoch() const {
    return record_.epochs.empty() ? record_.resumed_from : record_.epochs.back().epoch;
  }

  Communicator& comm_;
  const SessionOptions& o_;
  const Job& job_;
  SideThreads side_;
  ThreadPool pool_;
  std::optional<DeviceReserve> reserve_;
  Workspace workspace_;
  Context ctx_;
  Dataset dataset_;
  PreparedGraph prepared_;
  RankData data_;
  Best best_;
  RankMeter meter_;
  EpochSoFar epoch_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<CheckpointStore> store_;
  RunRecord record_;
  std::vector<ClockOffset> clocks_;  // (ranks), where a trace is kept
};

}  // namespace

Outcome run_session(Communicator& comm, const SessionOptions& options) {
  Session session(comm, options);
  try {
    return session.run();
  } catch (...) {
    comm.abandon();
    throw;
  }
}

}  // namespace atl
