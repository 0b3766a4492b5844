#include "telemetry/observer.h"

namespace atl {

// An observer overrides what concerns it; these ignore the rest.
void RunObserver::on_start(const RunRecord&) {}
void RunObserver::on_epoch(const EpochRecord&) {}
void RunObserver::on_step(const StepRecord&) {}
void RunObserver::on_checkpoint(const Reached&) {}
void RunObserver::on_result(const RunRecord&) {}
void RunObserver::on_message(MessageLevel, const std::string&) {}

void ObserverList::on_start(const RunRecord& run) {
  for (const auto& observer : observers_) observer->on_start(run);
}

void ObserverList::on_epoch(const EpochRecord& epoch) {
  for (const auto& observer : observers_) observer->on_epoch(epoch);
}

void ObserverList::on_step(const StepRecord& step) {
  for (const auto& observer : observers_) observer->on_step(step);
}

void ObserverList::on_checkpoint(const Reached& at) {
  for (const auto& observer : observers_) observer->on_checkpoint(at);
}

void ObserverList::on_result(const RunRecord& run) {
  for (const auto& observer : observers_) observer->on_result(run);
}

void ObserverList::on_message(MessageLevel level, const std::string& text) {
  for (const auto& observer : observers_) observer->on_message(level, text);
}

}  // namespace atl
