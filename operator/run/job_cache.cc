// Jobs in memory, and how much of them: any user may make thousands, with large specs, and none of them may
// end the operator by that. Of a job of another class the metadata alone is kept. A new job whose spec would
// be more than its namespace may have is refused, as one is whose own spec is too large (api/gnnjob.h).
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

/// Whether plans count both alike: whether and since when the job waits, and the nodes of its pods.
bool counts_the_same(const GnnJob& a, const GnnJob& b) {
  return a.operator_class() == b.operator_class() && a.status.servers == b.status.servers &&
         a.meta.deletion == b.meta.deletion &&
         holds(a.status.conditions, kPlaced) == holds(b.status.conditions, kPlaced) &&
         waits_for_places_since(a.status) == waits_for_places_since(b.status);
}

/// Bytes of the specs of each namespace's jobs, as they are kept. Any user may make thousands of jobs, which
/// would fill the memory. Used by the one thread that fills the cache.
class SpecsBySpace {
 public:
  /// A job for which something was done already isn't refused any more. One that is new counts once, also
  /// where it has changed since it was counted.
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
  Bytes new_;    // of jobs for which nothing was done yet, by "namespace/name"
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
