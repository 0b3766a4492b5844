#include "operator/run/waiting_gangs.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

namespace atl::ctl {
namespace {

/// the gangs that may be tried in vain in one search; each try takes as long as a plan
constexpr int kMostTries = 2, kTriesBesideKept = 1;
/// how long an answer holds while only pods come and go
constexpr Seconds kAnswerHolds{5};
/// how long a class isn't tried again on the nodes that others leave to it, once it found no room there: that
/// depends on nodes, and on pods of no job
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
  Moment end = Moment::max();
  for (const Kept& kept : answer_.kept) {
    const bool is_older = kept.of_room != answer_.of.room;  // older than the answer
    if (is_older || answer_.of.room != room)
      end = std::min(end, (is_older ? kept.at : answer_.at) + kAnswerHolds);
  }
  return end == Moment::max() ? Seconds(0) : std::max(end - now_(), Seconds(0));
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
    if (!since) continue;
    // A gang whose pods are still to be made has just finished its prepare step. Its wait begins now, because
    // the status doesn't tell when the prepare step ended.
    const Condition* created = find_condition(job->status.conditions, kCreated);
    const bool is_made = created && (created->holds || created->reason != kPreparing);
    line_.push_back({precedence_of(*job, caches_), is_made ? *since : std::max(*since, now_()), waiting});
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

/// Finds the first gang in order that could have places, as far as that is known, and the later gangs that
/// could have places on other nodes. A class is searched for once, because its other gangs would need the
/// same nodes.
void WaitingGangs::search(const InOrder& impatient, Tries tries, Answer& answer) {
  forget_all_but(impatient);
  InOrder hopeless;  // gangs before the first that could
  Names claimed;
  for (const Waiting* next : impatient) {
    if (answer.kept.size() == kMostKept) break;
    const bool has_its_like = std::ranges::count(answer.kept, next->demand_class, &Kept::demand_class) > 0;
    if (has_its_like || tries.look.is_too_large(next->demand_class)) continue;
    if (is_vain(*next, claimed, tries.now)) {
      if (answer.kept.empty()) hopeless.push_back(next);
    } else if (tries.left == 0 && !kept_before(*next)) {
      if (answer.kept.empty()) answer.until = now_();  // others get their turns at the next search
    } else if (keep_room(*next, claimed, answer.kept.size(), tries, answer)) {
      claimed.insert(answer.kept.back().room->claimed.begin(), answer.kept.back().room->claimed.end());
    }
  }
  for (const Waiting* next : untried(hopeless, tries.now.room)) {
    if (tries.left > 0 && !keep_room(*next, {}, 0, tries, answer)) continue;
    answer.until = now_();  // earlier gangs, and room for later ones, may still be found
    break;
  }
}

bool WaitingGangs::keep_room(const Waiting& waiting, const Names& claimed, std::size_t after, Tries& tries,
                             Answer& answer) {
  const Kept* last = kept_before(waiting);
  Kept kept{nullptr, waiting.demand_class, now_(), tries.now.room};
  if (is_kept_still(last, claimed, after, tries.now)) {
    kept = *last;
    if (kept.of_room != tries.now.room) answer.until = std::min(answer.until, kept.at + kAnswerHolds);
  } else {
    if (!last) --tries.left;
    auto found = searches_.reserve(waiting.gang, tries.look.snapshot(waiting.gang.job), claimed);
    if (found) kept.room = std::make_shared<const Reservation>(std::move(*found));
  }
  if (!kept.room) {
    vain_[waiting.demand_class] = {tries.now, !claimed.empty(), now_()};
    return false;
  }
  vain_.erase(waiting.demand_class);
  // Later gangs keep their room on other nodes. Otherwise anybody could take it before the next search.
  const auto has_its_nodes = [&](const Kept& other) {
    return std::ranges::any_of(other.room->nodes,
                               [&](const std::string& node) { return kept.room->claimed.contains(node); });
  };
  const auto place = answer.kept.begin() + std::ptrdiff_t(after);
  answer.kept.erase(std::remove_if(place, answer.kept.end(), has_its_nodes), answer.kept.end());
  answer.kept.insert(answer.kept.begin() + std::ptrdiff_t(after), std::move(kept));
  if (answer.kept.size() > kMostKept) answer.kept.pop_back();
  return true;
}

/// Whether a gang's kept room may stay where it is. A later gang's room stays for a few seconds, like the
/// whole answer, because choosing it again takes as long as a plan.
bool WaitingGangs::is_kept_still(const Kept* last, const Names& claimed, std::size_t after,
                                 const Generations& now) const {
  if (!last) return false;
  const bool is_recent = after > 0 && answer_.of.capacity == now.capacity && now_() < last->at + kAnswerHolds;
  const auto is_claimed = [&](const std::string& node) { return claimed.contains(node); };
  return (last->of_room == now.room || is_recent) && std::ranges::none_of(last->room->nodes, is_claimed);
}

const WaitingGangs::Kept* WaitingGangs::kept_before(const Waiting& waiting) const {
  for (const Kept& kept : answer_.kept)
    if (kept.room->job == waiting.gang.job && kept.demand_class == waiting.demand_class) return &kept;
  return nullptr;
}

bool WaitingGangs::is_vain(const Waiting& waiting, const Names& claimed, const Generations& now) const {
  const auto found = vain_.find(waiting.demand_class);
  if (found == vain_.end()) return false;
  if (claimed.empty()) return !found->second.is_beside_others;
  return found->second.now.capacity == now.capacity && now_() < found->second.at + kVainBesideOthers;
}

void WaitingGangs::forget_all_but(const InOrder& impatient) {
  std::set<std::string_view> classes;
  for (const Waiting* waiting : impatient) classes.insert(waiting->demand_class);
  std::erase_if(vain_, [&](const auto& known) { return !classes.contains(known.first); });
}

WaitingGangs::InOrder WaitingGangs::untried(const InOrder& hopeless, std::uint64_t generation) const {
  const auto tried = [&](const Waiting* waiting) { return vain_.at(waiting->demand_class).now.room; };
  InOrder first;
  std::set<std::string_view> classes;
  for (const Waiting* waiting : hopeless) {
    const bool is_vain_yet = vain_.contains(waiting->demand_class);  // another gang of it may have room
    if (is_vain_yet && tried(waiting) != generation && classes.insert(waiting->demand_class).second)
      first.push_back(waiting);
  }
  std::ranges::stable_sort(first, {}, tried);
  return first;
}

/// Records for whom room is kept. Gangs that have gone in the meantime are left out.
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

/// Since when the condition has been false with this `reason`. Time before the job was last resumed doesn't
/// count.
std::optional<Moment> lacking_since(const Status& status, const char* type, const std::string& reason) {
  const Condition* lacks = find_condition(status.conditions, type);
  if (has_ended(status.conditions) || !lacks || lacks->holds || lacks->reason != reason) return {};
  const Condition* suspended = find_condition(status.conditions, kSuspended);
  return suspended ? std::max(lacks->changed, suspended->changed) : lacks->changed;
}

}  // namespace

std::optional<Moment> waits_for_places_since(const Status& status) {
  return has_ended(status.conditions) ? std::nullopt : finds_no_room_since(status.conditions);
}

std::optional<Moment> waits_for_launcher_since(const Status& status) {
  return lacking_since(status, kRunning, kNoRoom);
}

std::optional<Moment> waits_for_room_since(const Status& status) {
  if (const auto since = waits_for_places_since(status)) return since;
  if (const auto since = lacking_since(status, kPlaced, kUnschedulable)) return since;
  return waits_for_launcher_since(status);
}

}  // namespace atl::ctl
