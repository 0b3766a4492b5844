// What ended an attempt: where it began, why, and whether the job is to blame.
#pragma once

#include <optional>
#include <string>

#include "operator/controller/reconcile.h"

namespace atl::ctl {

struct Incident {
  std::string reason;  // OOMKilled, Signal, Exit, NodeLost, …
  Culprit culprit;
  std::string message;  // sentences
};

/// mpirun lost a server of which nobody else has said yet that it is gone.
inline constexpr const char* kLost = "Lost";

/// Nothing that the job did: it counts against maxDisruptions, not against backoffLimit.
bool is_disruption(const std::string& reason);

/// Whether this pod's end is among the restarts already.
bool is_counted(const Status& status, const PodView& pod);

/// A worker's end.
Incident worker_incident(const PodView& pod, const Reconcile& reconcile);

/// The end of the present attempt, from what its launcher and its workers left behind; nothing while it goes on.
std::optional<Incident> incident_of(const Reconcile& reconcile);

/// Enters it, counts it, and moves on to the next attempt, or ends the job where that was the last.
void restart(Reconcile& reconcile, const Incident& incident);

/// Ends the job for good.
void fail_job(Reconcile& reconcile, const std::string& reason, const std::string& message);

}  // namespace atl::ctl
