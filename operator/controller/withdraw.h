// Taking pods away again.
#pragma once

#include <string>

#include "operator/controller/reconcile.h"

namespace atl::ctl {

/// Deletes a pod, unless it is going already. One that hangs on a node which doesn't answer, past its grace, is taken out
/// of the API by force: what still runs there is fenced by the attempt's number.
void dismiss(Reconcile& reconcile, const PodView& pod, std::optional<int> grace = {});

/// Why there is no placement, of the kinds that are followed by a wait.
inline constexpr const char* kWithdrawn = "Withdrawn";
inline constexpr const char* kNotBound = "NotBound";

/// Says that the plan didn't hold, for one of these two reasons. Each time since the job ran last is counted, and the wait
/// after it is longer.
void give_up_plan(Reconcile& reconcile, const char* reason, const std::string& message);

/// Says that the whole gang is withdrawn, and takes away what has been released of it.
void withdraw(Reconcile& reconcile, const std::string& message);

/// Goes on with that, where it was broken off.
void dismiss_withdrawn(Reconcile& reconcile);

}  // namespace atl::ctl
