// One look at a job: what is observed of it, what is decided, and what is to be done about it.
#include <algorithm>
#include <set>
#include <utility>

#include "operator/controller/decide.h"
#include "operator/run/asked.h"
#include "operator/run/controller.h"
#include "operator/run/kinds.h"
#include "operator/run/observe.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {
namespace {

using kube::Milliseconds;

constexpr Milliseconds kExpectationsLapse{301'000}, kNameMayBeFree{30'000};
constexpr int kMostAsked = 5;  // rounds of a decision; it asks at most four things

/// An errand whose taker decides again, and may ask the API server meanwhile.
Errand errand_to_ask(NewsAge age) {
  age.pause();
  return {age, {}, false};
}

}  // namespace

/// Looks at the job. Returns what is left to do with the API server; if the look may not ask the server
/// (Look::may_ask), that may be the whole look.
std::optional<Errand> Controller::work_on(const std::string& job, Look& look) {
  if (const auto wait = server_delays_.left(job); wait > Milliseconds(0)) {
    queue_.add_after(job, wait);
    return {};
  }
  if (!expectations_.are_met(job)) {
    queue_.add_after(job, kExpectationsLapse);
    return {};
  }
  WriteFeedback feedback = feedbacks_.take(job);
  if (!feedback.outdated.empty() && !look.may_ask) {
    feedbacks_.put(job, std::move(feedback));
    return errand_to_ask(look.age);
  }
  // Objects without our labels aren't watched. Only another try shows that such an object is gone.
  if (feedback.has_foreign()) queue_.add_after(job, kNameMayBeFree);
  const auto outdated = std::exchange(feedback.outdated, {});
  const auto read = [&] { return read_again(around_.client, space_of(job), outdated); };
  auto reread = outdated.empty() ? std::vector<Reread>() : look.age.while_asking(read);
  if (!reread) {
    feedback.outdated = outdated;
    feedbacks_.put(job, std::move(feedback));
    enqueue(job, true);
    return {};
  }
  // The caches show the pods for which room was booked, except pods whose creation wasn't answered.
  std::set<std::string> unseen = pods_that_exist(*reread);
  WriteFeedback kept = feedback;  // for the taker of the errand, which looks again
  auto seen = observe(job, caches_,
                      {std::move(feedback), std::move(*reread), poller_.heard(job), poller_.silent_rank(job),
                       written(job), around_.now()});
  if (!seen) {
    if (!caches_.job(job)) forget(job);  // the job may belong to another operator now
    return {};
  }
  auto errand = decide_on(job, std::move(*seen), std::move(unseen), look);
  if (errand) errand->rests_on_feedback = errand->writes && !kept.is_empty();
  if (look.must_ask && !kept.is_empty()) feedbacks_.put(job, std::move(kept));
  return errand;
}

/// Decides again as long as the decision asks for something that the API server knows. Known flavors of a
/// queue are filled in without a request, because each decision about a job that waits in the queue needs
/// them.
Decision Controller::decision_on(Observed& seen, Look& look) {
  Decision decision = decide(seen, options_.settings);
  if (!decision.wants.queue.empty())
    seen.queue = queue_flavors_.known(seen.job.meta.space, decision.wants.queue);
  if (seen.queue) decision = decide(seen, options_.settings);
  look.must_ask |= !look.may_ask && decision.wants.is_any();
  const Askers askers{around_.client, pod_trials_, queue_flavors_};
  const auto ask = [&] { return answer(askers, decision.wants, seen); };
  for (int asked = 0; look.may_ask && asked < kMostAsked && decision.wants.is_any(); ++asked) {
    if (!look.age.while_asking(ask)) break;
    decision = decide(seen, options_.settings);
  }
  return decision;
}

/// Fills in where the gang's volume claims can be used. Returns false if the server has to be asked first.
bool Controller::knows_claims(const std::string& space, Gang& gang, Look& look) {
  for (GangVolume& volume : gang.volumes) {
    auto place = claim_places_.known(space, volume.claim);
    look.must_ask |= !place && !look.may_ask;
    if (look.must_ask) return false;
    const auto ask = [&] { return claim_places_.of(space, volume.claim); };
    volume.place = place ? std::move(*place) : look.age.while_asking(ask);
  }
  return true;
}

GangPlan Controller::plan(const Gang& gang, const std::vector<std::string>& pods, Planner::JobPlans& plans) {
  const auto begin = Time::now();
  const double processor = processor_seconds();
  GangPlan plan = plans.plan(gang, pods);
  around_.metrics.planned(seconds_since(begin), processor_seconds() - processor);
  return plan;
}

/// `unseen` names the pods whose room stays booked in any case.
std::optional<Errand> Controller::decide_on(const std::string& job, Observed seen,
                                            std::set<std::string> unseen, Look& look) {
  Planner::JobPlans plans(planner_, job, unseen);
  const auto knows = [&](Gang& gang) { return knows_claims(seen.job.meta.space, gang, look); };
  CachedCluster cluster(
      caches_, seen.job,
      [&](Gang gang, const auto& pods) { return knows(gang) ? plan(gang, pods, plans) : GangPlan{}; },
      [&](auto servers) { return requests_.why_not(job, precedence_of(seen.job, caches_), servers); },
      [&](std::vector<Gang> ways) {
        const bool is_known = std::ranges::all_of(ways, knows);
        return is_known ? plans.largest_pods(ways, options_.settings.gpu_resource) : std::nullopt;
      });
  seen.cluster = &cluster;
  Decision decision = decision_on(seen, look);
  seen.cluster = nullptr;
  if (planner_.take_moved()) room_changed();
  if (look.must_ask) return errand_to_ask(look.age);
  if (!cluster.has_asked() && !has_requests(seen)) requests_.forget(job);
  if (const auto wait = repeats_.wait(job, decision); wait > Milliseconds(0)) {
    around_.metrics.held_back();
    queue_.add_after(job, wait);
    return {};
  }
  plans.keep(decision);
  const Status& status = decision.status ? *decision.status : seen.job.status;
  // A gang that can't use places now, because its pods are refused, must not hold up the others in line.
  const bool waits = plans.has_planned() && waits_for_places_since(status);
  if (!waits && planner_.stop_waiting(job)) room_changed();
  if (decision.requeue_at)
    queue_.add_after(job, std::max<Milliseconds>(*decision.requeue_at - seen.now, Milliseconds(0)));
  if (decision.status || !decision.stages.empty()) {
    around_.metrics.decided(look.age.seconds(), look.age.seconds_in_work());
    look.age.pause();
    return Errand{look.age, Errand::Writes{std::move(seen), std::move(decision), std::move(unseen)}, false};
  }
  if (decision.wants.is_any())
    enqueue(job, true);  // the answer couldn't be had
  else
    queue_.forget(job);
  return {};
}

}  // namespace atl::ctl
