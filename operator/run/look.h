// Where the time of one look at a job goes: answers of the API server and places for its gang are counted apart, so that what
// is left is what the operator itself took.
#pragma once

#include <chrono>
#include <string>

#include "operator/run/own_clock.h"

namespace atl::ctl {

class Look {
 public:
  using Time = std::chrono::steady_clock;

  /// Since when a job waits on the queue, and what the clock said then.
  struct Queued {
    explicit Queued(const OwnClock& clock) : own(clock.seconds()) {}

    Time::time_point at = Time::now();
    double own;
  };

  /// The clock must outlive it.
  Look(std::string job, const Queued& queued, OwnClock& clock)
      : job_(std::move(job)),
        clock_(clock),
        waited_(seconds_between(queued.at, begin_)),
        waited_for_us_(clock.seconds() - queued.own) {
    clock_.begin();
  }
  ~Look() { clock_.end(); }
  Look(const Look&) = delete;
  Look& operator=(const Look&) = delete;

  const std::string& job() const { return job_; }
  double waited() const { return waited_; }
  double worked() const { return seconds_between(begin_, Time::now()); }
  double planned() const { return planned_; }
  /// Without the API server and without planning.
  double own() const { return worked() - answered_ - planned_; }
  /// The same with the time on the queue in which some worker worked itself.
  double own_since_queued() const { return waited_for_us_ + own(); }
  /// Whether something was done about the job.
  bool has_acted() const { return has_acted_; }

  void acts() { has_acted_ = true; }
  /// What `talk` gives. All of it counts as the API server's: it does little but wait for answers.
  template <class Talk>
  auto answer(const Talk& talk) {
    const Share share(*this, answered_);
    return talk();
  }
  template <class Planning>
  auto plan(const Planning& planning) {
    const Share share(*this, planned_);
    return planning();
  }

 private:
  static double seconds_between(Time::time_point begin, Time::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
  }
  /// Adds its life to a sum, during which the worker doesn't work itself.
  class Share {
   public:
    Share(Look& look, double& sum) : look_(look), sum_(sum) { look_.clock_.end(); }
    ~Share() {
      sum_ += seconds_between(begin_, Time::now());
      look_.clock_.begin();
    }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    Look& look_;
    double& sum_;
    const Time::time_point begin_ = Time::now();
  };

  const std::string job_;
  OwnClock& clock_;
  const Time::time_point begin_ = Time::now();
  const double waited_, waited_for_us_;
  double answered_ = 0, planned_ = 0;
  bool has_acted_ = false;
};

}  // namespace atl::ctl
