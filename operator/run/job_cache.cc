// The jobs in memory, and limits on their size: any user may make thousands of jobs with large specs, and
// must not exhaust the operator's memory. For jobs of another class only the metadata is kept. A new job is
// refused if the specs of its namespace would become too large together. A job whose own spec is too large is
// refused too (api/gnnjob.h).
#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "operator/run/caches.h"
#include "operator/run/feedback.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {
namespace {

/// Whether plans treat both versions alike. That depends on whether and since when the job waits, and on the
/// nodes of its pods.
bool counts_the_same(const GnnJob& a, const GnnJob& b) {
  return a.operator_class() == b.operator_class() && a.status.servers == b.status.servers &&
         a.meta.deletion == b.meta.deletion &&
         holds(a.status.conditions, kPlaced) == holds(b.status.conditions, kPlaced) &&
         waits_for_places_since(a.status) == waits_for_places_since(b.status);
}

/// Bytes of the specs that are kept, by namespace, so that a user who makes thousands of jobs can't fill the
/// memory. Only the thread that fills the cache uses it.
class SpecsBySpace {
 public:
  /// Refuses the job if the namespace's specs would become too large. A job on which work has begun isn't
  /// refused any more. A new job that has changed since it was counted isn't counted twice.
  void judge(GnnJob& job) const {
    const std::size_t own = bytes_of(new_, job.full_name()), taken = bytes_of(bytes_, job.meta.space) - own;
    if (!job.status.conditions.empty() || taken + job.manifest.size() <= kMost) return;
    refuse(job,
           fmt::format("spec: with it, the specs of this namespace's jobs that haven't ended would be more "
                       "than {} MiB as JSON, and no more are kept: delete some of them, or wait until "
                       "some have ended, and create this job again",
                       kMost >> 20));
  }
  void count(const std::string& name, const kube::Cache<GnnJob>::Value& before,
             const kube::Cache<GnnJob>::Value& after) {
    new_.erase(name);
    if (after && after->status.conditions.empty()) new_[name] = after->manifest.size();
    const std::string& space = (after ? after : before)->meta.space;
    std::size_t& bytes = bytes_[space];
    bytes = bytes - (before ? before->manifest.size() : 0) + (after ? after->manifest.size() : 0);
    if (bytes == 0) bytes_.erase(space);
  }

 private:
  using Bytes = std::map<std::string, std::size_t>;
  static constexpr std::size_t kMost = 16 << 20;

  static std::size_t bytes_of(const Bytes& all, const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? 0 : found->second;
  }

  Bytes bytes_;  // by namespace
  Bytes new_;    // of jobs on which no work has begun, by "namespace/name"
};

GnnJob read_job(std::string_view text, const std::string& operator_class, const SpecsBySpace& specs) {
  GnnJob job = read_gnn_job(std::string(text));
  if (job.operator_class() != operator_class) {
    GnnJob of_another;
    of_another.meta = std::move(job.meta);
    return of_another;
  }
  specs.judge(job);
  return job;
}

}  // namespace

kube::Cache<GnnJob> job_cache(const News& news, const std::string& operator_class) {
  const auto specs = std::make_shared<SpecsBySpace>();
  return {[operator_class, specs](std::string_view text) { return read_job(text, operator_class, *specs); },
          [news, specs](const std::string& name, const auto& before, const auto& after) {
            specs->count(name, before, after);
            if (!before || !after || !counts_the_same(*before, *after)) {
              news.room.job_changed(name);
              ++news.order;
            }
            if (!after)
              news.listener.job_gone(name);
            else
              news.listener.job_changed(name, before ? changed_mark(Kind::kJob, after->meta.name) : "");
          }};
}

}  // namespace atl::ctl
