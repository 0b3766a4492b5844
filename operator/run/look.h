// Where the time of one look at a job goes: answers of the API server and places for its gang are counted apart, so that what
// is left is what the operator itself took.
#pragma once

#include <chrono>
#include <string>

namespace atl::ctl {

class Look {
 public:
  using Time = std::chrono::steady_clock;

  /// `queued`: since when the job waited for it.
  Look(std::string job, Time::time_point queued) : job_(std::move(job)), queued_(queued) {}

  const std::string& job() const { return job_; }
  double waited() const { return seconds_between(queued_, begin_); }
  double worked() const { return seconds_between(begin_, Time::now()); }
  double planned() const { return planned_; }
  /// Without the API server and without planning.
  double own() const { return worked() - answered_ - planned_; }
  /// Whether something was done about the job.
  bool has_acted() const { return has_acted_; }

  void acts() { has_acted_ = true; }
  /// What `talk` gives. All of it counts as the API server's: it does little but wait for answers.
  template <class Talk>
  auto answer(const Talk& talk) {
    const Share share(answered_);
    return talk();
  }
  template <class Planning>
  auto plan(const Planning& planning) {
    const Share share(planned_);
    return planning();
  }

 private:
  static double seconds_between(Time::time_point begin, Time::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
  }
  /// Adds its life to a sum.
  class Share {
   public:
    explicit Share(double& sum) : sum_(sum) {}
    ~Share() { sum_ += seconds_between(begin_, Time::now()); }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

   private:
    double& sum_;
    const Time::time_point begin_ = Time::now();
  };

  const std::string job_;
  const Time::time_point queued_, begin_ = Time::now();
  double answered_ = 0, planned_ = 0;
  bool has_acted_ = false;
};

}  // namespace atl::ctl
