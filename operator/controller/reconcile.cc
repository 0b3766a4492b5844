#include "operator/controller/reconcile.h"

#include <algorithm>
#include <utility>

#include "operator/api/json_values.h"
#include "operator/api/status.h"
#include "operator/objects/names.h"

namespace atl::ctl {
namespace {

constexpr std::size_t kLongestEvent = 1024;

bool is_bad_news(const std::string& condition, bool holds, const std::string& reason) {
  if (reason == kPreparing || reason == kPodSizeChosen || reason == kSuspended)
    return false;  // on its way, or suspended as wished
  return holds ? condition == kFailed || condition == kRestarting || condition == kDeletionRefused ||
                     reason == kUnheard
               : condition == kPlaced || condition == kCreated || is_in_vain(reason);
}

/// Whether the reason is a usual step on the way to training. It needs no event: the status tells it.
bool is_step(const std::string& reason) {
  return reason == kPreparing || reason == kPlanned || reason == "Made" || reason == kStarting;
}

}  // namespace

Reconcile::Reconcile(const Observed& observed, const Settings& given)
    : seen(observed), settings(given), status(observed.job.status), job_(observed.job) {
  status.record(job_.made_of);
  if (seen.job.job) gang_ = view_gang(seen, settings, attempt());
  if (gang_) findings_ = look_up_findings();
  for (const auto& [name, node] : seen.nodes)  // no watch reports that a node stays away
    if (node.is_missing) await(node.since + kTimeToComeBack);
}

void Reconcile::say(const char* condition, bool holds, const std::string& reason,
                    const std::string& message) {
  if (ctl::has_ended(status.conditions)) return;
  const Condition* before = this->condition(condition);
  const bool is_news = before ? before->holds != holds || before->reason != reason : true;
  const bool is_start = reason == "Training" && !this->holds(kRestarting) && !this->holds(kRunning);
  const bool is_usual = (is_step(reason) || is_start) && !is_end_of_trouble(condition);
  if (is_news && !is_usual) tell(is_bad_news(condition, holds, reason), reason, message);
  set_condition(status.conditions, {condition, holds, bounded(reason, kLongestReason),
                                    bounded(message, kLongestMessage), seen.now, seen.job.meta.generation});
}

/// Whether an earlier event told why the condition didn't hold, so that another event must tell that this is
/// over. After a restart, the event that the ranks train again tells it.
bool Reconcile::is_end_of_trouble(const char* condition) const {
  const std::string reason = reason_against(condition);
  const bool was_told = reason == kNoRoom || is_bad_news(condition, false, reason);
  return !reason.empty() && was_told && !holds(kRestarting);
}

void Reconcile::tell(bool is_warning, const std::string& reason, const std::string& message) {
  for (Event& event : decision_.events) {
    if (event.reason != reason) continue;
    event.is_warning |= is_warning;
    return;
  }
  decision_.events.push_back({is_warning, reason, bounded(message, kLongestEvent)});
}

bool Reconcile::holds(const char* condition) const {
  return ctl::holds(status.conditions, condition);
}

std::string Reconcile::reason_against(const char* condition) const {
  const Condition* found = this->condition(condition);
  return found && !found->holds ? found->reason : "";
}

Moment Reconcile::since(const char* condition) const {
  const Condition* found = this->condition(condition);
  return found ? found->changed : seen.now;
}

void Reconcile::write(Write write) {
  if (is_new_stage_) decision_.stages.emplace_back();
  is_new_stage_ = false;
  decision_.stages.back().push_back(std::move(write));
}

void Reconcile::create(Kind kind, const std::string& object_name, std::string object) {
  write({Write::Verb::kCreate, kind, object_name, std::move(object), "", {}});
}

void Reconcile::patch(const PodView& pod, std::string patch) {
  write({Write::Verb::kPatch, Kind::kPod, pod.meta.name, std::move(patch), "", {}});
}

void Reconcile::patch(Kind kind, const std::string& object_name, std::string patch) {
  write({Write::Verb::kPatch, kind, object_name, std::move(patch), "", {}});
}

void Reconcile::remove(Kind kind, const Meta& meta, std::optional<int> grace) {
  const auto is_this = [&](const Write& other) {
    return other.verb == Write::Verb::kDelete && other.kind == kind && other.name == meta.name;
  };
  for (const auto& stage : decision_.stages)
    if (std::ranges::any_of(stage, is_this)) return;
  write({Write::Verb::kDelete, kind, meta.name, "", meta.uid, grace});
}

bool Reconcile::has_deletions() const {
  return std::ranges::any_of(decision_.stages, [](const auto& stage) {
    return std::ranges::any_of(stage, [](const Write& each) { return each.verb == Write::Verb::kDelete; });
  });
}

void Reconcile::next_stage() {
  is_new_stage_ = true;
}

void Reconcile::requeue_at(Moment when) {
  if (!decision_.requeue_at || when < *decision_.requeue_at) decision_.requeue_at = when;
}

bool Reconcile::await(Moment when) {
  if (now() < when) requeue_at(when);
  return now() >= when;
}

void Reconcile::end_attempt() {
  const bool is_renewed = spec().launcher == Launcher::kMpiJob;  // an MPIJob serves one attempt, begun or not
  if (is_renewed || gang().is_launched) status.attempt = std::max(seen.job.status.attempt, 1) + 1;
}

void Reconcile::use_image(const std::string& image) {
  job_.made_of.image = image;
  status.made_of.image = image;
}

void Reconcile::use_keys(const std::string& secret) {
  job_.status.keys = secret;
  status.keys = secret;
}

const ObjectView* Reconcile::find(Kind kind, const std::string& object_name) const {
  for (const ObjectView& object : seen.objects)
    if (object.kind == kind && object.meta.name == object_name) return &object;
  return nullptr;
}

/// Looks for the findings in the ConfigMap, in the status, and in the prepare pod. The pod may be deleted, so
/// the status gets its findings with the next change, at the latest with the gang's places.
std::shared_ptr<const Prepared> Reconcile::look_up_findings() {
  if (const ObjectView* map = find(Kind::kConfigMap, prepared_map_name(name(), job().made_of.prepared)))
    return map->prepared ? map->prepared : std::make_shared<const Prepared>();
  if (status.findings.empty() && gang_->prepare) status.findings = told_findings(*gang_->prepare);
  auto found = read_prepared(status.findings);
  return found ? std::make_shared<const Prepared>(std::move(*found)) : nullptr;
}

std::vector<const PodView*> Reconcile::own_pods(const char* role) const {
  std::vector<const PodView*> pods;
  for (const PodView& pod : seen.pods)
    if (is_own(pod.meta, seen) && pod.meta.label(kRoleLabel) == role) pods.push_back(&pod);
  return pods;
}

Decision Reconcile::decision() {
  if (seen.job.meta.deletion || ctl::has_ended(seen.job.status.conditions)) return std::move(decision_);
  status.observed_generation = seen.job.meta.generation;
  // The initial state of attempt 1 is written together with the first condition. A name for the keys is
  // written at once, because without the name their Secret can't be found again.
  const bool is_blank =
      seen.job.status.conditions.empty() && status.conditions.empty() && status.keys == seen.job.status.keys;
  Status before = seen.job.status;
  if (status.attempt == 1) before.attempt = 1;
  // A job of an earlier release lacks the record of what it is made of. It is written together with the next
  // other change. So are findings, which the pod still has. Neither alone causes a write: a CRD of an earlier
  // release would drop the field, and the write would be repeated for ever.
  if (before.made_of == MadeOf{}) before.made_of = status.made_of;
  if (before.findings.empty()) before.findings = status.findings;
  if (status == before || is_blank) return std::move(decision_);
  const auto stays = may_stay(before, status);
  if (!stays) return std::move(decision_);
  const Moment due = seen.wrote_status.value_or(Moment{}) + *stays;
  if (now() >= due)
    decision_.status = status;
  else
    requeue_at(due);
  return std::move(decision_);
}

}  // namespace atl::ctl
