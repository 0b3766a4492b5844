// The steps of a decision. Each sees to one thing: it says what there is to say of the job's state, adds what is to be done, and
// returns whether later steps may follow. Their order is decide.cc's.
#pragma once

#include "operator/controller/reconcile.h"

namespace atl::ctl {

enum class Next { kContinue, kDone };  // kDone: that is all for now

inline Next done_if(bool is_done) {
  return is_done ? Next::kDone : Next::kContinue;
}

// life.cc: beginning and end of a job
Next leave_what_is_deleted(Reconcile& reconcile);
Next clean_up(Reconcile& reconcile);
Next complete(Reconcile& reconcile);
Next refuse_unfit(Reconcile& reconcile);
Next fail_past_deadline(Reconcile& reconcile);

// queue.cc
Next resume(Reconcile& reconcile);
Next suspend(Reconcile& reconcile);

// restart.cc: an attempt that is over
Next restart_lost_attempt(Reconcile& reconcile);
Next restart_failed_worker(Reconcile& reconcile);
Next back_off(Reconcile& reconcile);

// start.cc: pods that were released and don't start
Next end_overdue_start(Reconcile& reconcile);
Next withdraw_unbound(Reconcile& reconcile);

// withdraw.cc
Next remove_leftovers(Reconcile& reconcile);

// refusals.cc: what the API server doesn't take, asked before the first pod is made
Next tell_refusal(Reconcile& reconcile);
Next give_way(Reconcile& reconcile);
Next refuse_malformed(Reconcile& reconcile);

// belongings.cc: what must be there before the pods
void keep_image(Reconcile& reconcile);
Next make_belongings(Reconcile& reconcile);

// prepare.cc
Next prepare_data(Reconcile& reconcile);

// gang_view.cc, placement.cc: pods, and nodes for them
Next make_gang(Reconcile& reconcile);
Next place_gang(Reconcile& reconcile);

// running.cc
Next launch_ranks(Reconcile& reconcile);
Next watch_ranks(Reconcile& reconcile);

}  // namespace atl::ctl
