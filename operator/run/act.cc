#include "operator/run/act.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>

#include "operator/controller/read_object.h"
#include "operator/kube/object_key.h"
#include "operator/objects/names.h"
#include "operator/plan/json_members.h"
#include "operator/run/marks.h"
#include "operator/run/parallel.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

Deed deed(Outcome outcome, std::string problem = {}) {
  return {outcome, std::move(problem), {}};
}

/// The object isn't what the caches say.
Deed outdated(Outcome outcome, const kube::ApiError& error, Kind kind, const std::string& name) {
  Deed found = deed(outcome, error.text());
  found.aftermath.outdated.push_back({kind, name});
  return found;
}

/// An answer that says no, in general.
Deed refusal(const kube::ApiError& error, Kind kind, const std::string& name) {
  if (error.is_conflict()) return outdated(Outcome::kConflict, error, kind, name);
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
  if (is_labelled(meta, seen)) return outdated(Outcome::kConflict, error, write.kind, write.name);
  Deed found = deed(Outcome::kRefused, error.text());
  found.aftermath.refusals.push_back(
      {fmt::format("{} {}", name_of(write.kind), write.name),
       fmt::format(
           "it exists, but without labels that it was made with; put back {}={} and {}={}, or delete it",
           kJobLabel, seen.job.meta.name, kManagedByLabel, kManager)});
  return found;
}

/// The object of a name that is taken: the job's own, or somebody else's.
Deed look_at_holder(const Hands& hands, const Observed& seen, const Write& write,
                    const kube::ApiError& error) {
  const std::string path = resource_of(write.kind).path(seen.job.meta.space, write.name);
  const kube::Answer answer = hands.client.get(path);
  if (!answer) return deed(Outcome::kConflict, answer.error->text());  // it has gone again
  Deed found = deed(Outcome::kRefused, fmt::format("{} {} exists already", name_of(write.kind), write.name));
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
    expected.comes();
    return {};
  }
  if (answer.error->already_exists()) return look_at_holder(hands, seen, write, *answer.error);
  // 404: of a kind that the server doesn't know; 500 and more: of an admission webhook, or the server's own, which nobody
  // would know of where it lasts.
  const int code = answer.error->code;
  const bool is_refused = code == 400 || code == 403 || code == 404 || code == 422 || code >= 500;
  if (!is_refused) return refusal(*answer.error, write.kind, write.name);
  Deed refused = deed(Outcome::kRefused, answer.error->text());
  refused.aftermath.refusals.push_back(
      {fmt::format("{} {}", name_of(write.kind), write.name), answer.error->message});
  return refused;
}

std::string version_of(const Observed& seen, const Write& write) {
  for (const PodView& pod : seen.pods)
    if (write.kind == Kind::kPod && pod.meta.name == write.name) return pod.meta.version;
  for (const ObjectView& object : seen.objects)
    if (object.kind == write.kind && object.meta.name == write.name) return object.meta.version;
  return {};
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
    // A patch that changes nothing brings no event.
    if (kube::object_key(answer.object).version != version_of(seen, write)) expected.comes();
    return {};
  }
  // What the patch tests before it changes anything isn't so any more (422), or the pod has gone.
  const bool is_outdated = answer.error->code == 422 || answer.error->is_not_found();
  return is_outdated ? outdated(Outcome::kConflict, *answer.error, write.kind, write.name)
                     : refusal(*answer.error, write.kind, write.name);
}

Deed remove(const Hands& hands, const Observed& seen, const Write& write) {
  Expected expected(hands, seen, gone_mark(write.uid));
  const std::string path = resource_of(write.kind).path(seen.job.meta.space, write.name);
  const kube::Answer answer = hands.client.remove(path, {.uid = write.uid, .grace_seconds = write.grace});
  if (answer) {
    expected.comes();
    return {};
  }
  const bool is_gone =
      answer.error->is_not_found() || answer.error->is_conflict();  // 409: the name is another's
  return is_gone ? outdated(Outcome::kDone, *answer.error, write.kind, write.name)
                 : deed(Outcome::kUnanswered, answer.error->text());
}

Deed perform(const Hands& hands, const Observed& seen, const Write& write) {
  if (!hands.may_write()) return deed(Outcome::kUnanswered, "this replica leads no more");
  try {
    switch (write.verb) {
      case Write::Verb::kCreate:
        return create(hands, seen, write);
      case Write::Verb::kPatch:
        return patch(hands, seen, write);
      case Write::Verb::kDelete:
        return remove(hands, seen, write);
    }
  } catch (const Error& error) {
    return deed(Outcome::kUnanswered, error.what());
  }
  return {};
}

/// The worse of two outcomes, and all that came of either.
void join(Deed& all, Deed one) {
  if (one.outcome > all.outcome) {
    all.outcome = one.outcome;
    all.problem = std::move(one.problem);
  }
  std::ranges::move(one.aftermath.pods, std::back_inserter(all.aftermath.pods));
  std::ranges::move(one.aftermath.objects, std::back_inserter(all.aftermath.objects));
  std::ranges::move(one.aftermath.refusals, std::back_inserter(all.aftermath.refusals));
  std::ranges::move(one.aftermath.outdated, std::back_inserter(all.aftermath.outdated));
}

}  // namespace

Deed write_new_status(const Hands& hands, const Observed& seen, const Status& status) {
  if (!hands.may_write()) return deed(Outcome::kUnanswered, "this replica leads no more");
  const Meta& meta = seen.job.meta;
  Expected expected(hands, seen, changed_mark(Kind::kJob, meta.name));
  // The version goes with it: 409 where the job has changed since it was read.
  const json steps = {{{"op", "add"}, {"path", "/metadata/resourceVersion"}, {"value", meta.version}},
                      {{"op", "add"}, {"path", "/status"}, {"value", json::parse(write_status(status))}}};
  const std::string path = kube::status_path(resource_of(Kind::kJob).path(meta.space, meta.name));
  try {
    const kube::Answer answer = hands.client.patch(path, steps.dump(), {.kind = kube::PatchKind::kJson});
    if (!answer) return refusal(*answer.error, Kind::kJob, meta.name);
    if (kube::object_key(answer.object).version != meta.version) expected.comes();
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
