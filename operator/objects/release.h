// The two changes that a gated pod sees: it is pinned to a node, and its gate is taken away. JSON patches
// that fail where the pod isn't the one that was looked at.
#pragma once

#include <string>

#include "operator/api/pod.h"

namespace atl::ctl {

/// The pod may stand on `node` alone; the gate stays.
std::string pin_patch(const PodView& pod, const std::string& node);

/// The gate is gone, and the pod says since when.
std::string release_patch(const PodView& pod, Moment now);

/// Both in one, for a worker. A pod that is pinned is left so.
std::string pin_and_release_patch(const PodView& pod, const std::string& node, Moment now);

/// The node that one of these pins its pod to, or "".
std::string pinned_by(const std::string& patch);

/// A gated pod that isn't there yet, as its pin leaves it.
std::string born_pinned(const std::string& pod, const std::string& node);

/// Likewise with its gate gone.
std::string born_released(const std::string& pod, const std::string& node, Moment now);

/// Whether our gate is on it.
bool is_gated(const PodView& pod);

}  // namespace atl::ctl
