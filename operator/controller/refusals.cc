// Two gangs that each hold half of a quota would wait for each other for ever. So the younger gives its gated pods back and
// waits for as long as the older is refused and holds some; and the older does so from time to time as well, because it
// may need more than there will ever be.
#include "operator/controller/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "operator/controller/questions.h"
#include "operator/controller/withdraw.h"
#include "operator/objects/release.h"

namespace atl::ctl {
namespace {

constexpr Seconds kTryAgain{10};  // where nothing says that there is more room
constexpr Seconds kPatience{30};  // of a gang with an older one before it
constexpr Seconds kLongestTry{120}, kFirstRest{60}, kLongestRest{600};  // of the oldest
constexpr const char* kGaveWay =
    "; the gang's other pods are withdrawn meanwhile, so that other jobs can have the room";

bool is_refused_pods(const Turn& turn) {
  return turn.reason_against(kCreated) == kRefused && !turn.gang().is_launched &&
         !(turn.gang().is_complete() && turn.gang().launcher) && turn.spec().launcher == Launcher::kAtoll;
}

/// The oldest tries for a while, rests, tries again, rests for twice as long, and so on: a function of the time since
/// the first refusal, so that nothing need be remembered. Nothing: it is a time to try.
std::optional<Moment> end_of_rest(const Turn& turn) {
  Moment begin = turn.since(kCreated);
  for (Seconds rest = kFirstRest;; rest = std::min(2 * rest, kLongestRest)) {
    const Moment tired = begin + kLongestTry;
    if (turn.now() < tired) return {};
    begin = tired + rest;
    if (turn.now() < begin) return begin;
  }
}

std::optional<Moment> gives_way_until(const Turn& turn) {
  const bool is_patient = turn.now() < turn.since(kCreated) + kPatience;
  if (!is_patient && turn.seen.is_another_first()) return turn.now() + kTryAgain;
  return end_of_rest(turn);
}

}  // namespace

bool is_refused_before(const GnnJob& other, const GnnJob& job) {
  const auto age = [](const GnnJob& j) { return std::tuple(j.meta.created.value_or(Moment{}), j.meta.name); };
  const Condition* created = find_condition(other.status.conditions, kCreated);
  return other.meta.space == job.meta.space && other.meta.uid != job.meta.uid && age(other) < age(job) &&
         !has_ended(other.status.conditions) && created && !created->holds && created->reason == kRefused;
}

bool is_refused(Turn& turn) {
  if (turn.seen.refusals.empty()) return false;
  const Refusal& first = turn.seen.refusals.front();
  turn.say(kCreated, false, kRefused,
           fmt::format("{} is refused by the API server: {}", first.object, first.message));
  turn.look_at(turn.now() + kTryAgain);
  return false;  // it may be taken the next time
}

bool is_giving_way(Turn& turn) {
  if (!is_refused_pods(turn)) return false;
  // Half a gang that was made where it is to stand takes room from others.
  if (turn.holds(kPlaced)) {
    withdraw(turn, find_condition(turn.status.conditions, kCreated)->message);
    return true;
  }
  const auto until = gives_way_until(turn);
  turn.look_at(until.value_or(turn.now() + kTryAgain));
  if (!until) return false;
  std::string message = find_condition(turn.status.conditions, kCreated)->message;
  if (!message.ends_with(kGaveWay)) message += kGaveWay;
  turn.say(kCreated, false, kRefused, message);
  for (const PodView* worker : turn.gang().workers)
    if (worker && is_gated(*worker)) dismiss(turn, *worker);
  const PodView* launcher = turn.gang().launcher;
  if (launcher && is_gated(*launcher)) dismiss(turn, *launcher);
  return true;
}

}  // namespace atl::ctl
