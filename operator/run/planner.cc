#include "operator/run/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "operator/plan/gang.h"
#include "operator/plan/room.h"

namespace atl::ctl {
namespace {

/// How long the reasons of a refusal are given again while only their numbers could differ.
constexpr Seconds kWordsHold{600};
/// How long a class's room is tracked after a gang of the class was last planned. Waiting gangs are planned
/// at least every minute.
constexpr Seconds kClassLasts{150};
/// Most plans for one question. A plan is made again if one of its nodes changed in the meantime.
constexpr int kMostPlans = 3;

/// The bookings for a plan of the gang; `pods` are named as in ClusterView::plan(). A launcher without
/// requests is placed later, so it gets no booking here.
std::map<std::string, Booking> bookings_of(const Gang& gang, const GangPlan& plan,
                                           const std::vector<std::string>& pods) {
  std::map<std::string, Booking> bookings;
  for (std::size_t p = 0; p < pods.size(); ++p) {
    const bool is_server = p < plan.nodes.size();
    const std::string& node = is_server ? plan.nodes[p] : plan.launcher;
    const Resources& requests = is_server ? gang.server : gang.launcher;
    if (!node.empty() && !requests.amounts().empty()) bookings[pods[p]] = {node, requests};
  }
  return bookings;
}

/// Whether room that was kept isn't kept any more, so that other gangs may have it.
bool gives_up_any(const KeptRooms& before, const KeptRooms& after) {
  const auto stays = [&](const auto& room) {
    return std::ranges::any_of(after, [&](const auto& other) {
      return other == room ||
             (other->job == room->job &&
              std::ranges::equal(room->room, other->room, {}, &PodState::where, &PodState::where));
    });
  };
  return !std::ranges::all_of(before, stays);
}

/// The pods that the decision makes or changes.
std::set<std::string> written_pods(const Decision& decision) {
  std::set<std::string> pods;
  for (const auto& stage : decision.stages)
    for (const Write& write : stage)
      if (write.kind == Kind::kPod && write.verb != Write::Verb::kDelete) pods.insert(write.name);
  return pods;
}

}  // namespace

Planner::JobPlans::JobPlans(Planner& planner, std::string job, std::set<std::string> unseen)
    : planner_(planner), job_(std::move(job)), kept_(std::move(unseen)) {
  planner_.forget(job_, kept_);
}

Planner::JobPlans::~JobPlans() {
  planner_.forget(job_, kept_);
}

GangPlan Planner::JobPlans::plan(const Gang& gang, const std::vector<std::string>& pods) {
  const bool is_whole = !gang.job.empty();
  has_planned_ |= is_whole;
  Waiting waiting{gang, is_whole ? demand_class(gang) : ""};
  std::lock_guard lock(planner_.mutex_);
  GangPlan plan;
  for (int plans = 0; plans < kMostPlans; ++plans) {
    planner_.forget(job_, kept_);  // drops the room of an earlier plan of this look
    // A gang that runs already may get missing pods placed even in kept room, because the gang for which it
    // is kept may be waiting for this one to end.
    plan = is_whole ? planner_.plan_whole(waiting) : planner_.search(gang, {});
    if (!plan.fits || planner_.room_.book(job_, bookings_of(gang, plan, pods))) break;
  }
  refused_ = plan.fits || !is_whole ? std::nullopt : std::optional(std::move(waiting));
  return plan;
}

std::optional<PodSize> Planner::JobPlans::largest_pods(const std::vector<Gang>& ways,
                                                       const std::string& gpu) {
  std::string kinds = gpu;
  for (const Gang& way : ways) kinds += '\n' + demand_class(way);
  const std::string digest = sha256_hex(kinds);
  std::lock_guard lock(planner_.mutex_);
  auto& too_large = planner_.too_large_;
  const std::uint64_t capacity = planner_.room_.capacity_generation();  // read before the nodes
  std::erase_if(too_large, [&](const auto& known) {
    return known.second.capacity != capacity || planner_.now_() - known.second.at >= kWordsHold;
  });
  if (too_large.contains(digest)) return {};
  auto size = planner_.searches_.largest_pods(ways, planner_.room_.snapshot(job_), gpu);
  if (!size) too_large[digest] = {capacity, planner_.now_()};
  return size;
}

void Planner::JobPlans::keep(const Decision& decision) {
  if (refused_) planner_.waiting_.put(*std::exchange(refused_, {}));
  kept_.merge(written_pods(decision));
  planner_.forget(job_, kept_);
}

GangPlan Planner::search(const Gang& gang, const KeptRooms& kept) {
  return searches_.plan(gang, room_.snapshot(gang.job, room_of(kept)));
}

const KeptRooms& Planner::kept_rooms() {
  follow();  // updates which classes are too large for the cluster
  const Generations now{room_.generation(), room_.capacity_generation(), caches_.order_generation()};
  KeptRooms kept = waiting_.kept_rooms(
      now, {[this](const std::string& job) -> const Snapshot& { return room_.snapshot(job); },
            [this](const std::string& demand_class) { return is_too_large(demand_class); }});
  if (gives_up_any(kept_, kept)) has_moved_ = true;
  return kept_ = std::move(kept);
}

Seconds Planner::kept_room_stays() {
  std::lock_guard lock(mutex_);
  return waiting_.stays_for(room_.generation());
}

const Snapshot& Planner::follow() {
  const Snapshot& snapshot = room_.snapshot("");
  const auto changes = room_.take_changes();
  for (auto& [name, one] : classes_) {
    if (changes.from) one.room.move(*changes.from);
    for (const std::size_t node : changes.nodes) one.room.count(snapshot, node);
  }
  return snapshot;
}

void Planner::drop_old_classes() {
  std::erase_if(classes_, [this](const auto& one) { return now_() - one.second.asked > kClassLasts; });
}

bool Planner::is_too_large(const std::string& demand_class) const {
  const auto known = classes_.find(demand_class);
  return known != classes_.end() && !known->second.room.could_ever();
}

/// Plans a whole gang beside kept room. `generation` is from before anything else was read, so that changes
/// in the meantime aren't missed.
GangPlan Planner::plan_beside(const Waiting& waiting, const KeptRooms& kept, std::uint64_t generation) {
  const Gang& gang = waiting.gang;
  const std::uint64_t capacity = room_.capacity_generation();
  // A gang that holds room may get another answer than the rest of its class.
  if (!room_.holds_nothing(gang.job)) return search(gang, kept);
  const Snapshot& snapshot = follow();
  const auto known = classes_.find(waiting.demand_class);
  if (known != classes_.end()) {
    known->second.asked = now_();
    const Refusal& last = known->second.refusals[kept.size()];
    const bool is_the_same = last.generation == generation && last.beside == kept;
    const ClassRoom& room = known->second.room;
    const auto fit = room.could_fit(snapshot, room_of(kept));
    const bool do_words_stand = now_() < last.at + kWordsHold && capacity == last.capacity &&
                                room.could_ever() == last.could_ever &&
                                fit.lacks_launcher == last.lacks_launcher;
    const bool has_no_room = do_words_stand && fit.gangs == 0;
    if (!last.plan.reasons.empty() && (is_the_same || has_no_room)) return last.plan;
  }
  GangPlan plan = search(gang, kept);
  if (plan.fits) return plan;
  remember(waiting, {plan, generation, capacity, kept, now_()});
  return plan;
}

void Planner::remember(const Waiting& waiting, Refusal refusal) {
  const Snapshot& snapshot = follow();
  auto known = classes_.find(waiting.demand_class);
  if (known == classes_.end()) {
    drop_old_classes();  // in a quiet cluster, nothing else drops them
    known =
        classes_.emplace(waiting.demand_class, Class{ClassRoom(waiting.gang, snapshot), {}, now_()}).first;
  }
  refusal.could_ever = known->second.room.could_ever();
  refusal.lacks_launcher = known->second.room.could_fit(snapshot, room_of(refusal.beside)).lacks_launcher;
  const std::size_t kept = refusal.beside.size();
  known->second.refusals[kept] = std::move(refusal);
}

GangPlan Planner::plan_whole(const Waiting& waiting) {
  const Gang& gang = waiting.gang;
  const std::uint64_t generation = room_.generation();
  KeptRooms beside;
  std::shared_ptr<const Reservation> own;
  for (const auto& kept : kept_rooms()) {
    if (kept->job == gang.job)
      own = kept;
    else if (!waiting_.comes_before(gang.job, kept->job))
      beside.push_back(kept);
  }
  GangPlan plan = plan_beside(waiting, beside, generation);
  if (plan.fits) return plan;
  if (own)
    plan.reasons.push_back(
        fmt::format("{} kept for it, so that none that comes later takes that", text_of(*own)));
  if (!beside.empty()) tell_of_kept_room(waiting, beside, plan);
  return plan;
}

/// Adds to the plan's reasons for which jobs room is kept that this gang could use.
void Planner::tell_of_kept_room(const Waiting& waiting, const KeptRooms& beside, GangPlan& plan) {
  const auto known = classes_.find(waiting.demand_class);
  std::vector<std::string> jobs;
  for (const auto& kept : beside)
    if (known == classes_.end() || known->second.room.may_use_any(follow(), kept->nodes))
      jobs.push_back(kept->job);
  if (jobs.empty()) return;
  plan.reasons.push_back(
      fmt::format("room is reserved for {}, which come{} first", listed(jobs), jobs.size() == 1 ? "s" : ""));
  plan.would_fit_unreserved = known != classes_.end() && known->second.room.could_fit(follow()).gangs > 0;
}

std::vector<std::string> Planner::could_fit_now(
    const std::function<bool(const std::string& job)>& is_put_off) {
  std::lock_guard lock(mutex_);
  const KeptRooms& kept = kept_rooms();
  has_moved_ = false;  // the list below takes the move into account
  const Snapshot& snapshot = follow();
  drop_old_classes();
  // how many more gangs of a class fit, beside the room of the given number of kept gangs
  std::map<std::pair<const Class*, std::size_t>, std::int64_t> left;
  std::vector<std::string> jobs;
  KeptRooms earlier;
  std::vector<PodState> beside;  // the room of `earlier`
  for (const auto& [precedence, since, waiting] : waiting_.in_line()) {
    const auto found = classes_.find(waiting->demand_class);
    const Class* known = found == classes_.end() ? nullptr : &found->second;
    if (is_put_off(precedence.job)) {
      // the job tries again by itself
    } else if (known && room_.holds_nothing(precedence.job)) {
      const auto [place, is_new] = left.try_emplace({known, earlier.size()});
      if (is_new) place->second = known->room.could_fit(snapshot, beside).gangs;
      if (place->second-- > 0) jobs.push_back(precedence.job);
    } else {
      jobs.push_back(precedence.job);
    }
    const auto own = std::ranges::find(kept, precedence.job, [](const auto& room) { return room->job; });
    if (own == kept.end()) continue;
    earlier.push_back(*own);
    beside = room_of(earlier);
  }
  return jobs;
}

}  // namespace atl::ctl
