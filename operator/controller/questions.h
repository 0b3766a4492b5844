// The questions that a decision consists of. Each looks at one thing and may say something of the job's state or add to
// what is to be done; true: that is all for now, later questions don't arise. Their order is decide.cc's.
#pragma once

#include "operator/controller/turn.h"

namespace atl::ctl {

// life.cc: beginning and end of a job
bool is_being_deleted(Turn& turn);
bool has_ended(Turn& turn);
bool has_completed(Turn& turn);
bool is_unfit(Turn& turn);
bool is_past_deadline(Turn& turn);

// queue.cc
bool is_resumed(Turn& turn);
bool is_suspended(Turn& turn);

// restart.cc: an attempt that is over
bool is_attempt_over(Turn& turn);
bool has_worker_failed(Turn& turn);
bool is_backing_off(Turn& turn);

// start.cc: pods that were released and don't start
bool is_start_overdue(Turn& turn);
bool is_gang_unbound(Turn& turn);

// withdraw.cc
bool has_leftovers(Turn& turn);

// refusals.cc: what the API server doesn't take, asked before the first pod is made
bool is_refused(Turn& turn);
bool is_giving_way(Turn& turn);
bool is_malformed(Turn& turn);

// belongings.cc: what must be there before the pods
void keep_image(Turn& turn);
bool lacks_belongings(Turn& turn);

// prepare.cc
bool is_unprepared(Turn& turn);

// gang_view.cc, placement.cc: pods, and nodes for them
bool lacks_pods(Turn& turn);
bool is_unplaced(Turn& turn);

// running.cc
bool is_unlaunched(Turn& turn);
bool is_running(Turn& turn);

}  // namespace atl::ctl
