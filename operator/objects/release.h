// The two changes of a gated pod: it is pinned to a node, and its gate is removed. JSON patches that fail
// where the pod isn't the one that was seen.
#pragma once

#include <string>

#include "operator/api/pod.h"

namespace atl::ctl {

/// Lets the pod run on `node` alone; the gate stays.
std::string pin_patch(const PodView& pod, const std::string& node);

/// Removes the gate, and records when.
std::string release_patch(const PodView& pod, Moment now);

/// Both in one, for a worker. Leaves a pinned pod's node as it is.
std::string pin_and_release_patch(const PodView& pod, const std::string& node, Moment now);

/// The node that such a patch pins its pod to, or "".
std::string pinned_by(const std::string& patch);

/// The JSON of a gated pod that doesn't exist yet, as its pin leaves it.
std::string born_pinned(const std::string& pod, const std::string& node);

/// The same without the gate.
std::string born_released(const std::string& pod, const std::string& node, Moment now);

/// Whether the pod has our gate.
bool is_gated(const PodView& pod);

}  // namespace atl::ctl
