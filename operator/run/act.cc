#include "operator/run/act.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "operator/api/json_values.h"
#include "operator/controller/observed.h"
#include "operator/kube/json_cut.h"
#include "operator/objects/names.h"
#include "operator/plan/json_members.h"
#include "operator/run/aftermath.h"
#include "operator/run/parallel.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

Deed deed(Outcome outcome, std::string problem = {}) {
  return {outcome, std::move(problem), {}, {}};
}

/// The object isn't, or may not be, what the caches say.
Deed outdated(Outcome outcome, const std::string& problem, Kind kind, const std::string& name) {
  Deed found = deed(outcome, problem);
  found.aftermath.outdated.push_back({kind, name});
  return found;
}

bool has_finalizers(const std::string& object) {
  const json parsed = json::parse(object, nullptr, false);
  return !list_of(member(parsed, "metadata"), "finalizers").empty();
}

/// An answer that says no, in general.
Deed refusal(const kube::ApiError& error, Kind kind, const std::string& name) {
  if (error.is_conflict()) return outdated(Outcome::kConflict, error.text(), kind, name);
  return deed(Outcome::kUnanswered, error.text());
}

/// Of one write: its expectation, which ends here unless the caches are to show something.
class Expected {
 public:
  Expected(const Hands& hands, const Observed& seen, std::string mark)
      : expectations_(hands.expectations), job_(seen.job.full_name()), mark_(std::move(mark)) {
    expectations_.expect(job_, mark_);
  }
  ~Expected() {
    if (!is_coming_) expectations_.seen(job_, mark_);
  }
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;
  void comes() { is_coming_ = true; }

 private:
  kube::Expectations& expectations_;
  const std::string job_, mark_;
  bool is_coming_ = false;
};

/// The caches show no object without these labels.
bool is_labelled(const Meta& meta, const Observed& seen) {
  return meta.label(kJobLabel) == seen.job.meta.name && meta.label(kManagedByLabel) == kManager;
}

/// An object of the job's own, which the caches don't show: not yet, or not while its labels are gone. Whoever looks again
/// at once would find the same.
Deed unseen(const Write& write, const Meta& meta, const kube::ApiError& error, const Observed& seen) {
  if (is_labelled(meta, seen)) return outdated(Outcome::kConflict, error.text(), write.kind, write.name);
  Deed found = deed(Outcome::kRejected, error.text());
  found.aftermath.refusals.push_back(
      {fmt::format("{} {}", name_of(write.kind), write.name),
       fmt::format("it exists without the labels it was created with; add {}={} and {}={}, or delete it",
                   kJobLabel, seen.job.meta.name, kManagedByLabel, kManager)});
  return found;
}

/// The object of a name that is taken: the job's own, or somebody else's.
Deed look_at_holder(const Hands& hands, const Observed& seen, const Write& write,
                    const kube::ApiError& error) {
  const std::string path = resource_of(write.kind).path(seen.job.meta.space, write.name);
  const kube::Answer answer = hands.client.get(path);
  if (!answer) return deed(Outcome::kConflict, answer.error->text());  // it has gone again
  Deed found = deed(Outcome::kRejected, fmt::format("{} {} exists already", name_of(write.kind), write.name));
  if (write.kind == Kind::kPod) {
    PodView pod = read_pod(answer.object);
    if (pod.meta.owner_uid == seen.job.meta.uid) return unseen(write, pod.meta, error, seen);
    found.aftermath.pods.push_back(std::move(pod));
  } else {
    ObjectView object = read_object(write.kind, json::parse(answer.object, nullptr, false));
    if (object.meta.owner_uid == seen.job.meta.uid) return unseen(write, object.meta, error, seen);
    found.aftermath.objects.push_back(std::move(object));
  }
  return found;
}

Deed create(const Hands& hands, const Observed& seen, const Write& write) {
  Expected expected(hands, seen, made_mark(write.kind, write.name));
  const kube::Answer answer =
      hands.client.create(resource_of(write.kind).path(seen.job.meta.space), write.body);
  if (answer) {
    if (write.kind != Kind::kSecret) expected.comes();  // no cache has Secrets
    return {};
  }
  // A Secret that exists, or is in conflict, can't be looked at: the next has another name.
  if (write.kind == Kind::kSecret && (answer.error->already_exists() || answer.error->is_conflict())) {
    Deed taken = deed(Outcome::kConflict, answer.error->text());
    taken.aftermath.taken_keys = write.name;
    return taken;
  }
  if (answer.error->already_exists()) return look_at_holder(hands, seen, write, *answer.error);
  // 404: of a kind that the server doesn't know; 500 and more: of an admission webhook, or the server's own, which nobody
  // would know of where it lasts.
  const int code = answer.error->code;
  const bool is_refused = code == 400 || code == 403 || code == 404 || code == 422 || code >= 500;
  if (!is_refused) return refusal(*answer.error, write.kind, write.name);
  Deed refused = deed(Outcome::kRejected, answer.error->text());
  refused.aftermath.refusals.push_back(
      {fmt::format("{} {}", name_of(write.kind), write.name), answer.error->message});
  return refused;
}

std::shared_ptr<const Meta> meta_of(const Hands& hands, const Observed& seen, Kind kind,
                                    const std::string& name) {
  return hands.caches.meta_of(kind, full_name(seen.job.meta.space, name));
}

/// The caches have the state that the answer tells: somebody else was faster and nothing was left to change, or its event
/// came first. No other comes.
bool is_known(const Hands& hands, const Observed& seen, Kind kind, const std::string& name,
              const std::string& answer) {
  const auto meta = meta_of(hands, seen, kind, name);
  return meta && meta->version == kube::object_key(answer).version;
}

/// The same of a deletion: the caches have that it goes. Where it is to be gone at once, that isn't enough, unless it is held by
/// finalizers.
bool is_known_to_go(const Hands& hands, const Observed& seen, const Write& write, const std::string& answer) {
  const auto meta = meta_of(hands, seen, write.kind, write.name);
  if (!meta || meta->uid != write.uid) return true;
  const bool is_at_once = write.grace == 0;
  return meta->deletion && (!is_at_once || has_finalizers(answer));
}

/// Of a Workload only the status is ours to change.
std::string patched_path(const Observed& seen, const Write& write) {
  const std::string path = resource_of(write.kind).path(seen.job.meta.space, write.name);
  return write.kind == Kind::kWorkload ? kube::status_path(path) : path;
}

Deed patch(const Hands& hands, const Observed& seen, const Write& write) {
  Expected expected(hands, seen, changed_mark(write.kind, write.name));
  const kube::Answer answer =
      hands.client.patch(patched_path(seen, write), write.body, {.kind = kube::PatchKind::kJson});
  if (answer) {
    if (!is_known(hands, seen, write.kind, write.name, answer.object)) expected.comes();
    return {};
  }
  // What the patch tests before it changes anything isn't so any more (422), or the pod has gone.
  const bool is_outdated = answer.error->code == 422 || answer.error->is_not_found();
  return is_outdated ? outdated(Outcome::kConflict, answer.error->text(), write.kind, write.name)
                     : refusal(*answer.error, write.kind, write.name);
}

Deed remove(const Hands& hands, const Observed& seen, const Write& write) {
  Expected expected(hands, seen, gone_mark(write.uid));
  const std::string path = resource_of(write.kind).path(seen.job.meta.space, write.name);
  const kube::Answer answer = hands.client.remove(path, {.uid = write.uid, .grace_seconds = write.grace});
  if (answer) {
    if (!is_known_to_go(hands, seen, write, answer.object)) expected.comes();
    return {};
  }
  const bool is_gone =
      answer.error->is_not_found() || answer.error->is_conflict();  // 409: the name is another's
  return is_gone ? outdated(Outcome::kDone, answer.error->text(), write.kind, write.name)
                 : deed(Outcome::kUnanswered, answer.error->text());
}

Deed send(const Hands& hands, const Observed& seen, const Write& write) {
  switch (write.verb) {
    case Write::Verb::kCreate:
      return create(hands, seen, write);
    case Write::Verb::kPatch:
      return patch(hands, seen, write);
    case Write::Verb::kDelete:
      return remove(hands, seen, write);
  }
  return {};
}

bool takes_place(const Write& write) {
  return write.kind == Kind::kPod && write.verb != Write::Verb::kDelete;
}

/// The server has seen nothing of it.
bool is_unsent(const kube::TransportError& error) {
  return error.kind() == kube::TransportError::Kind::kConnect ||
         error.kind() == kube::TransportError::Kind::kTls;
}

Deed attempt(const Hands& hands, const Observed& seen, const Write& write) {
  try {
    return send(hands, seen, write);
  } catch (const kube::TransportError& error) {
    // Of others the next look sees by itself whether they were done.
    if (!takes_place(write) || is_unsent(error)) return deed(Outcome::kUnanswered, error.what());
    return outdated(Outcome::kUnanswered, error.what(), write.kind, write.name);
  } catch (const Error& error) {
    return deed(Outcome::kUnanswered, error.what());
  }
}

Deed perform(const Hands& hands, const Observed& seen, const Write& write) {
  if (!hands.may_write()) return deed(Outcome::kUnanswered, "this replica is no longer the leader");
  Deed done = attempt(hands, seen, write);
  const bool may_exist = done.outcome == Outcome::kDone || !done.aftermath.outdated.empty();
  // One that is patched exists, and its node is in the status: what fails now is tried again.
  if (takes_place(write) && (may_exist || write.verb == Write::Verb::kPatch)) done.pods.insert(write.name);
  return done;
}

/// The worse of two outcomes, and all that came of either.
void join(Deed& all, Deed one) {
  if (one.outcome > all.outcome) {
    all.outcome = one.outcome;
    all.problem = std::move(one.problem);
  }
  all.pods.merge(one.pods);
  std::ranges::move(one.aftermath.pods, std::back_inserter(all.aftermath.pods));
  std::ranges::move(one.aftermath.objects, std::back_inserter(all.aftermath.objects));
  if (all.aftermath.taken_keys.empty()) all.aftermath.taken_keys = std::move(one.aftermath.taken_keys);
  std::ranges::move(one.aftermath.refusals, std::back_inserter(all.aftermath.refusals));
  std::ranges::move(one.aftermath.outdated, std::back_inserter(all.aftermath.outdated));
}

}  // namespace

Deed write_new_status(const Hands& hands, const Observed& seen, const Status& status) {
  if (!hands.may_write()) return deed(Outcome::kUnanswered, "this replica is no longer the leader");
  const Meta& meta = seen.job.meta;
  Expected expected(hands, seen, changed_mark(Kind::kJob, meta.name));
  // The version goes with it: 409 where the job has changed since it was read.
  const json steps = {{{"op", "add"}, {"path", "/metadata/resourceVersion"}, {"value", meta.version}},
                      {{"op", "add"}, {"path", "/status"}, {"value", json::parse(write_status(status))}}};
  const std::string path = kube::status_path(resource_of(Kind::kJob).path(meta.space, meta.name));
  try {
    const kube::Answer answer = hands.client.patch(path, steps.dump(), {.kind = kube::PatchKind::kJson});
    if (!answer) return refusal(*answer.error, Kind::kJob, meta.name);
    if (!is_known(hands, seen, Kind::kJob, meta.name, answer.object)) expected.comes();
    return {};
  } catch (const Error& error) {
    return deed(Outcome::kUnanswered, error.what());
  }
}

Deed write_stages(const Hands& hands, const Observed& seen, const Decision& decision) {
  Deed all;
  std::mutex mutex;
  for (const auto& stage : decision.stages) {
    in_parallel(stage.size(), hands.writes_at_once, [&](std::size_t i) {
      Deed one = perform(hands, seen, stage[i]);
      std::lock_guard lock(mutex);
      join(all, std::move(one));
    });
    if (all.outcome != Outcome::kDone) break;
  }
  return all;
}

}  // namespace atl::ctl
