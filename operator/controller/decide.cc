#include "operator/controller/decide.h"

#include "operator/controller/steps.h"

namespace atl::ctl {
namespace {

/// A completed run counts whatever else has happened; what must stop comes before what must start.
constexpr Next (*kSteps[])(Reconcile&) = {
    leave_what_is_deleted,
    clean_up,
    complete,
    refuse_unfit,
    resume,
    suspend,
    fail_past_deadline,
    restart_lost_attempt,
    restart_failed_worker,
    end_overdue_start,
    withdraw_unbound,
    remove_leftovers,
    tell_refusal,
    make_belongings,
    prepare_data,
    back_off,
    give_way,
    make_gang,
    place_gang,
    launch_ranks,
    watch_ranks,
};

}  // namespace

Decision decide(const Observed& seen, const Settings& settings) {
  Reconcile reconcile(seen, settings);
  for (const auto& step : kSteps)
    if (step(reconcile) == Next::kDone) break;
  tell_queue(reconcile);
  return reconcile.decision();
}

}  // namespace atl::ctl
