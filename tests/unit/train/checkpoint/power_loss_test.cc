// metrics.jsonl after a loss of power: of what was written, only that is left which was flushed, and the run
// goes on from the newest checkpoint. Then the file reads as if nothing had happened.
#include <sys/syscall.h>
#include <unistd.h>

#include "telemetry/run_folder.h"
#include "train/checkpoint/killed_run.h"

namespace atl::power_loss {

/// What a loss of power would leave of the file.
std::string flushed;

bool is_metrics_file(int file) {
  std::error_code ignored;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), ignored);
  return path.filename() == "metrics.jsonl";
}

/// Takes the C library's place in this program.
extern "C" int fdatasync(int file) {
  if (is_metrics_file(file)) flushed = read_bytes("/proc/self/fd/" + std::to_string(file));
  return int(::syscall(SYS_fdatasync, file));
}

}  // namespace atl::power_loss

namespace atl {
namespace {

using power_loss::flushed;

/// Writes the run's folder, and loses power as soon as a checkpoint is on the disk.
class PowerLine final : public RunObserver {
 public:
  PowerLine(Watcher& watcher, const std::filesystem::path& output, Index lost_at)
      : watcher_(watcher), output_(output), lost_at_(lost_at), writer_(make_run_folder_writer(output)) {}

  void on_start(const RunRecord& run) override {
    writer_->on_start(run);
    flushed = read_bytes(output_ / "metrics.jsonl");  // this one is written as a whole
  }
  void on_epoch(const EpochRecord& epoch) override { writer_->on_epoch(epoch); }
  void before_checkpoint() override { writer_->before_checkpoint(); }
  void on_checkpoint(const Reached& at) override {
    if (at == Reached{lost_at_}) {
      write_bytes(output_ / "metrics.jsonl", flushed);
      throw Killed();
    }
    writer_->on_checkpoint(at);
  }
  void on_result(const RunRecord& run) override { watcher_.on_result(run); }

 private:
  Watcher& watcher_;
  const std::filesystem::path output_;
  const Index lost_at_;
  const std::unique_ptr<RunObserver> writer_;
};

class PowerLoss : public KilledRuns {
 protected:
  RunObserver& listener(Watcher& watcher, const std::filesystem::path& output) override {
    line_ = std::make_unique<PowerLine>(watcher, output, std::exchange(lost_at_, 0));
    return *line_;
  }
  /// The epochs and losses that metrics.jsonl tells.
  std::vector<std::pair<Index, double>> told(const std::string& output) {
    std::vector<std::pair<Index, double>> all;
    for (const EpochRecord& e : read_epochs(folder_ / output, job_.training.epochs))
      all.emplace_back(e.epoch, e.loss);
    return all;
  }

  Index lost_at_ = 0;  // in the run that starts next; 0: never

 private:
  std::unique_ptr<PowerLine> line_;
};

TEST_F(PowerLoss, LeavesTheLinesOfAllEpochsThatTheCheckpointHas) {
  run("never", 1);
  const auto never = told("never");
  ASSERT_EQ(never.size(), 17U);
  for (const Index lost : {2, 8, 16}) {
    const std::string name = "lost-" + std::to_string(lost);
    lost_at_ = lost;
    run(name, 1);
    EXPECT_EQ(told(name).size(), std::size_t(lost)) << "the checkpoint's epochs were flushed before it";
    EXPECT_EQ(run(name, 1).resumed_from, lost);
    EXPECT_EQ(told(name), never) << name;
  }
}

}  // namespace
}  // namespace atl
