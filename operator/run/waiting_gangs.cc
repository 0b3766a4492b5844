#include "operator/run/waiting_gangs.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace atl::ctl {
namespace {

/// one for the gang whose room is kept already, one for those that wait in vain: each takes as long as a plan
constexpr int kMostTries = 2;
/// while only pods come and go
constexpr Seconds kAnswerHolds{5};

}  // namespace

void WaitingGangs::put(Waiting waiting) {
  std::lock_guard lock(mutex_);
  auto& known = gangs_[waiting.gang.job];
  if (known && known->demand_class == waiting.demand_class) return;
  known = std::make_shared<const Waiting>(std::move(waiting));
  ++changes_;
}

bool WaitingGangs::remove(const std::string& job) {
  std::lock_guard lock(mutex_);
  changes_ += gangs_.erase(job);
  const bool was_favoured = favoured_ == job;
  if (was_favoured) favoured_.clear();
  return was_favoured;
}

bool WaitingGangs::has(const std::string& job) const {
  std::lock_guard lock(mutex_);
  return gangs_.contains(job);
}

std::size_t WaitingGangs::size() const {
  std::lock_guard lock(mutex_);
  return gangs_.size();
}

std::uint64_t WaitingGangs::changes() const {
  std::lock_guard lock(mutex_);
  return changes_;
}

bool WaitingGangs::is_known(const Generations& now, std::uint64_t changes) const {
  const Moment time = now_();
  const bool is_of_now = answer_.of.room == now.room || time < answer_.at + kAnswerHolds;
  return is_of_now && answer_.of.capacity == now.capacity && answer_.of.order == now.order &&
         answer_.changes == changes && time < answer_.until;
}

std::shared_ptr<const Reservation> WaitingGangs::reservation(const Generations& now, const Look& look) {
  const std::uint64_t changes = this->changes();
  if (!is_known(now, changes)) {
    Answer answer{now, changes, Moment::max(), now_(), {}, {}};
    search(impatient(answer.until), {look, now.room, kMostTries}, answer);
    answer_ = std::move(answer);
  }
  favour(answer_.reservation.get());
  return answer_.reservation;
}

Seconds WaitingGangs::stays_for(std::uint64_t room) const {
  if (!answer_.reservation || answer_.of.room == room) return Seconds(0);
  return std::max(answer_.at + kAnswerHolds - now_(), Seconds(0));
}

const std::vector<WaitingGangs::InLine>& WaitingGangs::in_line() {
  const std::uint64_t order = caches_.order_generation();
  std::unique_lock lock(mutex_);
  if (std::exchange(line_of_, std::pair(order, changes_)) == std::pair(order, changes_)) return line_;
  const auto gangs = gangs_;
  lock.unlock();
  line_.clear();
  for (const auto& [name, waiting] : gangs) {
    const auto job = caches_.job(name);
    const auto since = job && !job->meta.deletion ? waits_for_places_since(job->status) : std::nullopt;
    if (since) line_.push_back({precedence_of(*job, caches_), *since, waiting});
  }
  std::ranges::sort(line_, [](const InLine& a, const InLine& b) { return a.precedence < b.precedence; });
  return line_;
}

WaitingGangs::InOrder WaitingGangs::impatient(Moment& until) {
  InOrder all;
  const Moment now = now_();
  for (const auto& [precedence, since, waiting] : in_line()) {
    if (now - since >= patience_)
      all.push_back(waiting.get());
    else
      until = std::min(until, since + patience_);
  }
  return all;
}

/// Finds the first gang in order that could have places, as far as that is known.
void WaitingGangs::search(const InOrder& impatient, Tries tries, Answer& answer) {
  const auto try_for = [&](const Waiting& next) {
    auto reservation = reserve(next, tries);
    if (!reservation) return false;
    answer.reservation = std::move(reservation);
    answer.demand_class = next.demand_class;
    return true;
  };
  forget_all_but(impatient);
  InOrder hopeless;  // gangs before the first that could
  for (const Waiting* next : impatient) {
    if (tries.look.is_too_large(next->demand_class)) continue;
    if (hopeless_.contains(next->demand_class)) {
      hopeless.push_back(next);
      continue;
    }
    if (tries.left == 0) answer.until = now_();
    if (tries.left == 0 || try_for(*next)) break;
  }
  for (const Waiting* next : untried(hopeless, tries.generation)) {
    if (tries.left > 0 && !try_for(*next)) continue;
    answer.until = now_();  // there may be others before it
    break;
  }
}

std::shared_ptr<const Reservation> WaitingGangs::reserve(const Waiting& waiting, Tries& tries) {
  const bool is_the_last = answer_.reservation && answer_.reservation->job == waiting.gang.job;
  if (is_the_last && answer_.demand_class == waiting.demand_class && answer_.of.room == tries.generation)
    return answer_.reservation;
  --tries.left;
  auto reservation = searches_.reserve(waiting.gang, tries.look.snapshot(waiting.gang.job));
  if (!reservation) {
    hopeless_[waiting.demand_class] = tries.generation;
    return nullptr;
  }
  hopeless_.erase(waiting.demand_class);
  return std::make_shared<const Reservation>(std::move(*reservation));
}

void WaitingGangs::forget_all_but(const InOrder& impatient) {
  std::set<std::string_view> classes;
  for (const Waiting* waiting : impatient) classes.insert(waiting->demand_class);
  std::erase_if(hopeless_, [&](const auto& known) { return !classes.contains(known.first); });
}

/// One gang per class; classes that were tried longest ago come first.
WaitingGangs::InOrder WaitingGangs::untried(const InOrder& hopeless, std::uint64_t generation) const {
  InOrder first;
  std::set<std::string_view> classes;
  for (const Waiting* waiting : hopeless)
    if (hopeless_.at(waiting->demand_class) != generation && classes.insert(waiting->demand_class).second)
      first.push_back(waiting);
  std::ranges::stable_sort(first, {},
                           [&](const Waiting* waiting) { return hopeless_.at(waiting->demand_class); });
  return first;
}

/// Does nothing if the gang has gone meanwhile.
void WaitingGangs::favour(const Reservation* reservation) {
  std::lock_guard lock(mutex_);
  favoured_ = reservation && gangs_.contains(reservation->job) ? reservation->job : "";
}

bool WaitingGangs::comes_before(const std::string& job, const std::string& other) const {
  const auto a = caches_.job(job), b = caches_.job(other);
  return a && b && precedence_of(*a, caches_) < precedence_of(*b, caches_);
}

Precedence precedence_of(const GnnJob& job, const Caches& caches) {
  Precedence precedence{0, job.meta.created.value_or(Moment{}), job.full_name()};
  std::optional<int> most;
  for (const auto& pod : caches.pods_of(precedence.job))
    if (!pod->gives_way) most = std::max(most.value_or(pod->priority), pod->priority);
  precedence.less_urgent = -std::int64_t(most.value_or(0));
  return precedence;
}

namespace {

/// Since when the condition has not held, if `reason` is why; for a job that was suspended, at the earliest
/// since it resumed.
std::optional<Moment> lacking_since(const Status& status, const char* type, const std::string& reason) {
  const Condition* lacks = find_condition(status.conditions, type);
  if (has_ended(status.conditions) || !lacks || lacks->holds || lacks->reason != reason) return {};
  const Condition* suspended = find_condition(status.conditions, kSuspended);
  return suspended ? std::max(lacks->changed, suspended->changed) : lacks->changed;
}

}  // namespace

std::optional<Moment> waits_for_places_since(const Status& status) {
  return lacking_since(status, kPlaced, "NoRoom");
}

std::optional<Moment> waits_for_launcher_since(const Status& status) {
  return lacking_since(status, kRunning, "NoRoom");
}

std::optional<Moment> waits_for_room_since(const Status& status) {
  if (const auto since = waits_for_places_since(status)) return since;
  if (const auto since = lacking_since(status, kPlaced, kUnschedulable)) return since;
  return waits_for_launcher_since(status);
}

}  // namespace atl::ctl
