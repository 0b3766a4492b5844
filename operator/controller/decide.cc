#include "operator/controller/decide.h"

#include "operator/controller/questions.h"
#include "operator/controller/queue.h"

namespace atl::ctl {
namespace {

/// A completed run counts whatever else has happened; what must stop comes before what must start.
constexpr bool (*kQuestions[])(Turn&) = {
    is_being_deleted, has_ended,        has_completed,     is_unfit,         is_resumed,      is_suspended,
    is_past_deadline, is_attempt_over,  has_worker_failed, is_start_overdue, is_gang_unbound, has_leftovers,
    is_refused,       lacks_belongings, is_unprepared,     is_backing_off,   is_giving_way,   lacks_pods,
    is_unplaced,      is_unlaunched,    is_running,
};

}  // namespace

Decision decide(const Observed& seen, const Settings& settings) {
  Turn turn(seen, settings);
  for (const auto& question : kQuestions)
    if (question(turn)) break;
  tell_queue(turn);
  return turn.decision();
}

}  // namespace atl::ctl
