// Who watches a run. The loop tells one RunObserver what happened; who listens (a terminal, a file, a metrics
// endpoint) is no business of the loop.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "train/telemetry/record.h"

namespace atl {

enum class MessageLevel { kInfo, kWarning };

/// Called by the loop's thread, in the order of events, between epochs: never inside the timed part of one.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// Before the first epoch: `run.setting` and `run.resumed_from` are set, and `run.epochs` where resumed.
  virtual void on_start(const RunRecord& run);
  virtual void on_epoch(const EpochRecord& epoch);
  /// A checkpoint of `epoch` completed epochs is on the disk.
  virtual void on_checkpoint(Index epoch);
  /// After the last epoch, also when interrupted: the record is complete.
  virtual void on_result(const RunRecord& run);
  /// One line for the user, without a newline.
  virtual void on_message(MessageLevel level, const std::string& text);
};

/// Hands everything on, in the order in which observers were added.
class ObserverList : public RunObserver {
 public:
  void add(std::unique_ptr<RunObserver> observer) { observers_.push_back(std::move(observer)); }
  void on_start(const RunRecord& run) override;
  void on_epoch(const EpochRecord& epoch) override;
  void on_checkpoint(Index epoch) override;
  void on_result(const RunRecord& run) override;
  void on_message(MessageLevel level, const std::string& text) override;

 private:
  std::vector<std::unique_ptr<RunObserver>> observers_;
};

}  // namespace atl
