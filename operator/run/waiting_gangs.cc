#include "operator/run/waiting_gangs.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace atl::ctl {
namespace {

/// of gangs that wait in vain: each takes as long as a plan, and so does each gang whose room is kept already
constexpr int kMostTries = 2, kTriesBesideKept = 1;
/// while only pods come and go
constexpr Seconds kAnswerHolds{5};
/// that a class has no room on the nodes which others leave to it: it depends on nodes, and on pods of no job
constexpr Seconds kVainBesideOthers{60};
constexpr std::size_t kMostKept = 4;

}  // namespace

std::vector<PodState> room_of(const KeptRooms& kept) {
  std::vector<PodState> pods;
  for (const auto& each : kept) pods.insert(pods.end(), each->room.begin(), each->room.end());
  return pods;
}

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
  return favoured_.erase(job) > 0;
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

KeptRooms WaitingGangs::kept_rooms(const Generations& now, const Look& look) {
  const std::uint64_t changes = this->changes();
  if (!is_known(now, changes)) {
    Answer answer{now, changes, Moment::max(), now_(), {}};
    const int tries = answer_.kept.empty() ? kMostTries : kTriesBesideKept;
    search(impatient(answer.until), {look, now, tries}, answer);
    answer_ = std::move(answer);
  }
  KeptRooms kept;
  for (const Kept& each : answer_.kept) kept.push_back(each.room);
  favour(kept);
  return kept;
}

Seconds WaitingGangs::stays_for(std::uint64_t room) const {
  if (answer_.kept.empty() || answer_.of.room == room) return Seconds(0);
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

void WaitingGangs::Claims::add(const Reservation& reservation) {
  nodes.insert(reservation.claimed.begin(), reservation.claimed.end());
  digest = 1;
  for (const std::string& node : nodes) digest = digest * 0x100000001b3ULL + std::hash<std::string>()(node);
  digest |= 1;
}

/// Finds the first gang in order that could have places, and those after it that could have some apart from
/// all before, as far as that is known. Another gang of a class would need the same nodes as the first.
void WaitingGangs::search(const InOrder& impatient, Tries tries, Answer& answer) {
  forget_all_but(impatient);
  std::vector<Hopeless> hopeless;
  Claims claims;
  for (const Waiting* next : impatient) {
    if (answer.kept.size() == kMostKept) break;
    const bool has_its_like = std::ranges::count(answer.kept, next->demand_class, &Kept::demand_class) > 0;
    if (has_its_like || tries.look.is_too_large(next->demand_class)) continue;
    if (is_vain(*next, claims)) {
      hopeless.push_back({next, answer.kept.size()});
    } else if (tries.left == 0 && !kept_before(*next)) {
      answer.until = now_();
    } else if (keep_room(*next, claims, answer.kept.size(), tries, answer)) {
      claims.add(*answer.kept.back().room);
    }
  }
  search_again(hopeless, tries, answer);
}

void WaitingGangs::search_again(const std::vector<Hopeless>& hopeless, Tries& tries, Answer& answer) {
  for (const auto& [waiting, after] : untried(hopeless, tries.now)) {
    Claims claims;
    for (std::size_t k = 0; k < after; ++k) claims.add(*answer.kept[k].room);
    if (tries.left > 0 && !keep_room(*waiting, claims, after, tries, answer)) continue;
    answer.until = now_();  // there may be others before it, and room for others after it
    break;
  }
}

bool WaitingGangs::keep_room(const Waiting& waiting, const Claims& claims, std::size_t after, Tries& tries,
                             Answer& answer) {
  const Kept* last = kept_before(waiting);
  Kept kept{nullptr, waiting.demand_class, claims.digest};
  if (last && last->beside == claims.digest && answer_.of.room == tries.now.room) {
    kept.room = last->room;
  } else {
    if (!last) --tries.left;
    auto found = searches_.reserve(waiting.gang, tries.look.snapshot(waiting.gang.job), claims.nodes);
    if (found) kept.room = std::make_shared<const Reservation>(std::move(*found));
  }
  if (!kept.room) {
    vain_[waiting.demand_class] = {tries.now, claims.digest, now_()};
    return false;
  }
  vain_.erase(waiting.demand_class);
  answer.kept.resize(after);  // those that come later may have kept room on its nodes
  answer.kept.push_back(std::move(kept));
  return true;
}

const WaitingGangs::Kept* WaitingGangs::kept_before(const Waiting& waiting) const {
  for (const Kept& kept : answer_.kept)
    if (kept.room->job == waiting.gang.job && kept.demand_class == waiting.demand_class) return &kept;
  return nullptr;
}

/// Whether it was tried in vain, beside these claims or beside none.
bool WaitingGangs::is_vain(const Waiting& waiting, const Claims& claims) const {
  const auto found = vain_.find(waiting.demand_class);
  return found != vain_.end() && (found->second.claims == 0 || found->second.claims == claims.digest);
}

void WaitingGangs::forget_all_but(const InOrder& impatient) {
  std::set<std::string_view> classes;
  for (const Waiting* waiting : impatient) classes.insert(waiting->demand_class);
  std::erase_if(vain_, [&](const auto& known) { return !classes.contains(known.first); });
}

std::vector<WaitingGangs::Hopeless> WaitingGangs::untried(const std::vector<Hopeless>& hopeless,
                                                          const Generations& now) const {
  const auto last = [&](const Hopeless& each) { return vain_.at(each.waiting->demand_class); };
  const auto stands = [&](const Vain& vain) {
    const bool is_of_nodes = vain.claims != 0 && vain.now.capacity == now.capacity;
    return vain.now.room == now.room || (is_of_nodes && now_() < vain.at + kVainBesideOthers);
  };
  std::vector<Hopeless> first;
  std::set<std::string_view> classes;
  for (const Hopeless& each : hopeless)
    if (!stands(last(each)) && classes.insert(each.waiting->demand_class).second) first.push_back(each);
  std::ranges::stable_sort(first, {}, [&](const Hopeless& each) { return last(each).now.room; });
  return first;
}

/// Gangs that have gone meanwhile aren't among them.
void WaitingGangs::favour(const KeptRooms& kept) {
  std::lock_guard lock(mutex_);
  favoured_.clear();
  for (const auto& each : kept)
    if (gangs_.contains(each->job)) favoured_.insert(each->job);
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
