#include "operator/run/act.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <mutex>

#include "base/json.h"
#include "operator/api/json_values.h"
#include "operator/controller/observed.h"
#include "operator/kube/json_cut.h"
#include "operator/objects/names.h"
#include "operator/plan/json_members.h"
#include "operator/run/feedback.h"
#include "operator/run/parallel.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

WriteResult result(Outcome outcome, std::string problem = {}) {
  return {outcome, std::move(problem), {}, {}};
}

/// The result of a write if the object isn't, or may not be, as the caches show it.
WriteResult outdated(Outcome outcome, const std::string& problem, Kind kind, const std::string& name) {
  WriteResult found = result(outcome, problem);
  found.feedback.outdated.push_back({kind, name});
  return found;
}

bool has_finalizers(const std::string& object) {
  const json parsed = json_or_discarded(object);
  return !list_of(member(parsed, "metadata"), "finalizers").empty();
}

/// The result of a refusal that isn't a user's to mend.
WriteResult refusal(const kube::ApiError& error, Kind kind, const std::string& name) {
  if (error.is_conflict()) return outdated(Outcome::kConflict, error.text(), kind, name);
  WriteResult refused = result(Outcome::kUnanswered, error.text());
  refused.retry_after = error.retry_after;
  return refused;
}

/// What the caches are to show after one write. It ends with this object unless comes() was called.
class Expected {
 public:
  Expected(const WriteContext& context, const Observed& seen, std::string mark)
      : expectations_(context.expectations), job_(seen.job.full_name()), mark_(std::move(mark)) {
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

/// Whether the object has the labels without which the caches don't show it.
bool is_labelled(const Meta& meta, const Observed& seen) {
  return meta.label(kJobLabel) == seen.job.meta.name && meta.label(kManagedByLabel) == kManager;
}

/// The job's own object exists, but the caches don't show it: they lag, or its labels were removed. In the
/// second case, looking again at once would find the same.
WriteResult unseen(const Write& write, const Meta& meta, const kube::ApiError& error, const Observed& seen) {
  if (is_labelled(meta, seen)) return outdated(Outcome::kConflict, error.text(), write.kind, write.name);
  WriteResult found = result(Outcome::kRejected, error.text());
  found.feedback.refusals.push_back(
      {fmt::format("{} {}", name_of(write.kind), write.name),
       fmt::format("it exists without the labels it was created with; add {}={} and {}={}, or delete it",
                   kJobLabel, seen.job.meta.name, kManagedByLabel, kManager)});
  return found;
}

/// Finds out who has the name that is taken: the job itself, or another owner.
WriteResult look_at_holder(const WriteContext& context, const Observed& seen, const Write& write,
                           const kube::ApiError& error) {
  const std::string path = resource_of(write.kind).path(seen.job.meta.space, write.name);
  const kube::Answer answer = context.client.get(path);
  if (!answer) return result(Outcome::kConflict, answer.error->text());  // the object is gone again
  WriteResult found =
      result(Outcome::kRejected, fmt::format("{} {} exists already", name_of(write.kind), write.name));
  if (write.kind == Kind::kPod) {
    PodView pod = read_pod(answer.object);
    if (pod.meta.owner_uid == seen.job.meta.uid) return unseen(write, pod.meta, error, seen);
    found.feedback.pods.push_back(std::move(pod));
  } else {
    ObjectView object = read_object(write.kind, json_or_discarded(answer.object));
    if (object.meta.owner_uid == seen.job.meta.uid) return unseen(write, object.meta, error, seen);
    found.feedback.objects.push_back(std::move(object));
  }
  return found;
}

/// A refusal that users must see, because it lasts until somebody mends its cause.
WriteResult rejected(const kube::ApiError& error, const Write& write) {
  WriteResult refused = result(Outcome::kRejected, error.text());
  WriteFeedback& feedback = refused.feedback;
  (write.verb == Write::Verb::kDelete ? feedback.undeleted : feedback.refusals)
      .push_back({fmt::format("{} {}", name_of(write.kind), write.name), error.message});
  refused.retry_after = error.retry_after;
  return refused;
}

/// Whether a policy, a webhook or a lack of rights is in the way. Nothing else tells users of that.
bool is_barred(const kube::ApiError& error) {
  return error.code == 400 || error.code == 403 || error.is_of_admission();
}

WriteResult create(const WriteContext& context, const Observed& seen, const Write& write) {
  Expected expected(context, seen, made_mark(write.kind, write.name));
  const kube::Answer answer =
      context.client.create(resource_of(write.kind).path(seen.job.meta.space), write.body);
  if (answer) {
    if (write.kind != Kind::kSecret) expected.comes();  // no cache has Secrets
    return {};
  }
  // An existing Secret can't be read, so the next one gets another name.
  if (write.kind == Kind::kSecret && (answer.error->already_exists() || answer.error->is_conflict())) {
    WriteResult taken = result(Outcome::kConflict, answer.error->text());
    taken.feedback.taken_keys = write.name;
    return taken;
  }
  if (answer.error->already_exists()) return look_at_holder(context, seen, write, *answer.error);
  // 404: the server doesn't know the kind. 500 and above: an admission webhook or the server failed, and
  // users must see that if it lasts.
  const int code = answer.error->code;
  const bool is_refused = is_barred(*answer.error) || code == 404 || code == 422 || code >= 500;
  return is_refused ? rejected(*answer.error, write) : refusal(*answer.error, write.kind, write.name);
}

std::shared_ptr<const Meta> meta_of(const WriteContext& context, const Observed& seen, Kind kind,
                                    const std::string& name) {
  return context.caches.meta_of(kind, full_name(seen.job.meta.space, name));
}

/// Whether the caches already have the state that the server answered with. Either the patch changed nothing
/// because somebody else had made the change, or the event came before the answer. No further event comes
/// then.
bool is_known(const WriteContext& context, const Observed& seen, Kind kind, const std::string& name,
              const std::string& answer) {
  const auto meta = meta_of(context, seen, kind, name);
  return meta && meta->version == kube::object_key(answer).version;
}

/// The same for a deletion: whether the caches know that the object is being deleted. After an immediate
/// deletion (grace 0) that suffices only if finalizers hold the object; otherwise the event of its end still
/// comes.
bool is_known_to_go(const WriteContext& context, const Observed& seen, const Write& write,
                    const std::string& answer) {
  const auto meta = meta_of(context, seen, write.kind, write.name);
  if (!meta || meta->uid != write.uid) return true;
  const bool is_at_once = write.grace == 0;
  return meta->deletion && (!is_at_once || has_finalizers(answer));
}

/// Where a patch of the object is sent. Of a Workload we may change nothing but its status.
std::string patched_path(const Observed& seen, const Write& write) {
  const std::string path = resource_of(write.kind).path(seen.job.meta.space, write.name);
  return write.kind == Kind::kWorkload ? kube::status_path(path) : path;
}

WriteResult patch(const WriteContext& context, const Observed& seen, const Write& write) {
  Expected expected(context, seen, changed_mark(write.kind, write.name));
  const kube::Answer answer =
      context.client.patch(patched_path(seen, write), write.body, {.kind = kube::PatchKind::kJson});
  if (answer) {
    if (!is_known(context, seen, write.kind, write.name, answer.object)) expected.comes();
    return {};
  }
  const kube::ApiError& error = *answer.error;
  if (write.kind == Kind::kPod && is_barred(error)) return rejected(error, write);  // the pod stays gated
  // A test of the patch has failed (422), or the pod is gone.
  const bool is_outdated = error.code == 422 || error.is_not_found();
  return is_outdated ? outdated(Outcome::kConflict, error.text(), write.kind, write.name)
                     : refusal(error, write.kind, write.name);
}

WriteResult remove(const WriteContext& context, const Observed& seen, const Write& write) {
  Expected expected(context, seen, gone_mark(write.uid));
  const std::string path = resource_of(write.kind).path(seen.job.meta.space, write.name);
  const kube::Answer answer = context.client.remove(path, {.uid = write.uid, .grace_seconds = write.grace});
  if (answer) {
    if (!is_known_to_go(context, seen, write, answer.object)) expected.comes();
    return {};
  }
  const kube::ApiError& error = *answer.error;
  if (is_barred(error)) return rejected(error, write);
  const bool is_gone =
      error.is_not_found() || error.is_conflict();  // 409: the name belongs to another object
  return is_gone ? outdated(Outcome::kDone, error.text(), write.kind, write.name)
                 : refusal(error, write.kind, write.name);
}

WriteResult send(const WriteContext& context, const Observed& seen, const Write& write) {
  if (write.verb == Write::Verb::kCreate) return create(context, seen, write);
  return write.verb == Write::Verb::kPatch ? patch(context, seen, write) : remove(context, seen, write);
}

bool takes_place(const Write& write) {
  return write.kind == Kind::kPod && write.verb != Write::Verb::kDelete;
}

/// Whether the request certainly never reached the server.
bool is_unsent(const kube::TransportError& error) {
  return error.kind() == kube::TransportError::Kind::kConnect ||
         error.kind() == kube::TransportError::Kind::kTls;
}

WriteResult attempt(const WriteContext& context, const Observed& seen, const Write& write) {
  try {
    return send(context, seen, write);
  } catch (const kube::TransportError& error) {
    // Other writes need no feedback: the next look sees in the caches whether they were done.
    if (!takes_place(write) || is_unsent(error)) return result(Outcome::kUnanswered, error.what());
    return outdated(Outcome::kUnanswered, error.what(), write.kind, write.name);
  } catch (const Error& error) {
    return result(Outcome::kUnanswered, error.what());
  }
}

WriteResult perform(const WriteContext& context, const Observed& seen, const Write& write) {
  if (!context.may_write()) return result(Outcome::kUnanswered, "this replica is no longer the leader");
  WriteResult done = attempt(context, seen, write);
  const bool may_exist = done.outcome == Outcome::kDone || !done.feedback.outdated.empty();
  // A patched pod exists, and its node is in the status. It keeps its place; a failed patch is tried again.
  if (takes_place(write) && (may_exist || write.verb == Write::Verb::kPatch)) done.pods.insert(write.name);
  return done;
}

/// Joins two results: the worse outcome, and the feedback of both.
void join(WriteResult& all, WriteResult one) {
  if (one.outcome > all.outcome) {
    all.outcome = one.outcome;
    all.problem = std::move(one.problem);
  }
  all.retry_after = std::max(all.retry_after, one.retry_after);
  all.pods.merge(one.pods);
  std::ranges::move(one.feedback.pods, std::back_inserter(all.feedback.pods));
  std::ranges::move(one.feedback.objects, std::back_inserter(all.feedback.objects));
  if (all.feedback.taken_keys.empty()) all.feedback.taken_keys = std::move(one.feedback.taken_keys);
  std::ranges::move(one.feedback.refusals, std::back_inserter(all.feedback.refusals));
  std::ranges::move(one.feedback.undeleted, std::back_inserter(all.feedback.undeleted));
  std::ranges::move(one.feedback.outdated, std::back_inserter(all.feedback.outdated));
}

}  // namespace

const char* word_for(Outcome outcome) {
  constexpr const char* kWords[] = {"done", "conflict", "refused", "failed"};  // by Outcome
  return kWords[std::size_t(outcome)];
}

WriteResult write_new_status(const WriteContext& context, const Observed& seen, const Status& status) {
  if (!context.may_write()) return result(Outcome::kUnanswered, "this replica is no longer the leader");
  const Meta& meta = seen.job.meta;
  Expected expected(context, seen, changed_mark(Kind::kJob, meta.name));
  // The patch has the job's version: the server answers 409 if the job has changed since it was read.
  const json steps = {{{"op", "add"}, {"path", "/metadata/resourceVersion"}, {"value", meta.version}},
                      {{"op", "add"}, {"path", "/status"}, {"value", parse_json(write_status(status))}}};
  const std::string path = kube::status_path(resource_of(Kind::kJob).path(meta.space, meta.name));
  try {
    const kube::Answer answer = context.client.patch(path, steps.dump(), {.kind = kube::PatchKind::kJson});
    if (!answer) return refusal(*answer.error, Kind::kJob, meta.name);
    if (!is_known(context, seen, Kind::kJob, meta.name, answer.object)) expected.comes();
    return {};
  } catch (const kube::TransportError& error) {
    if (is_unsent(error)) return result(Outcome::kUnanswered, error.what());
    return outdated(Outcome::kUnanswered, error.what(), Kind::kJob, meta.name);  // perhaps written
  } catch (const Error& error) {
    return result(Outcome::kUnanswered, error.what());
  }
}

WriteResult write_stages(const WriteContext& context, const Observed& seen, const Decision& decision) {
  WriteResult all;
  std::mutex mutex;
  for (const auto& stage : decision.stages) {
    in_parallel(stage.size(), context.writes_at_once, [&](std::size_t i) {
      WriteResult one = perform(context, seen, stage[i]);
      std::lock_guard lock(mutex);
      join(all, std::move(one));
    });
    if (all.outcome != Outcome::kDone) break;
  }
  return all;
}

}  // namespace atl::ctl
