// Observers of a run. The loop tells one RunObserver what happened, and needn't know who listens: a terminal,
// a file, a metrics endpoint.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "telemetry/record.h"

namespace atl {

enum class MessageLevel { kInfo, kWarning };

/// One step of an epoch that has several. The record is the same on every rank.
struct StepRecord {
  Index epoch = 0, step = 0, steps = 0;  // from 1; steps: how many the epoch has
  double loss = 0;                       // mean over the epoch so far
};

/// The number of epochs done, with the part of the present epoch that is done.
inline double epochs_done(const StepRecord& s) {
  return double(s.epoch - 1) + double(s.step) / double(s.steps);
}

/// An observer overrides what concerns it. The loop's thread calls these in the order of events. Only
/// on_step() is called within the timed part of an epoch.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  /// Before the first epoch. `run.setting` and `run.resumed_from` are set and, in a resumed run,
  /// `run.epochs`.
  virtual void on_start(const RunRecord& /*run*/) {}
  /// After each step but the last of an epoch, which on_epoch() reports.
  virtual void on_step(const StepRecord& /*step*/) {}
  virtual void on_epoch(const EpochRecord& /*epoch*/) {}
  /// Before a checkpoint becomes visible to a later start. The files that such a start reads beside the
  /// checkpoint must be on the disk when this returns.
  virtual void before_checkpoint() {}
  /// After a checkpoint is on the disk.
  virtual void on_checkpoint(const Reached& /*at*/) {}
  /// After the last epoch, also in an interrupted run: the record is complete.
  virtual void on_result(const RunRecord& /*run*/) {}
  /// One line for the user, without a newline.
  virtual void on_message(MessageLevel /*level*/, const std::string& /*text*/) {}
};

/// Hands everything on, in the order in which observers were added.
class ObserverList : public RunObserver {
 public:
  void add(std::unique_ptr<RunObserver> observer) { observers_.push_back(std::move(observer)); }
  void on_start(const RunRecord& run) override {
    for (const auto& observer : observers_) observer->on_start(run);
  }
  void on_step(const StepRecord& step) override {
    for (const auto& observer : observers_) observer->on_step(step);
  }
  void on_epoch(const EpochRecord& epoch) override {
    for (const auto& observer : observers_) observer->on_epoch(epoch);
  }
  void before_checkpoint() override {
    for (const auto& observer : observers_) observer->before_checkpoint();
  }
  void on_checkpoint(const Reached& at) override {
    for (const auto& observer : observers_) observer->on_checkpoint(at);
  }
  void on_result(const RunRecord& run) override {
    for (const auto& observer : observers_) observer->on_result(run);
  }
  void on_message(MessageLevel level, const std::string& text) override {
    for (const auto& observer : observers_) observer->on_message(level, text);
  }

 private:
  std::vector<std::unique_ptr<RunObserver>> observers_;
};

}  // namespace atl
