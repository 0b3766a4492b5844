// Which engine image a job's pods run: the same in all of them, because ranks of two builds refuse each
// other. It is chosen when the first pod is made, and kept when the operator's default changes. Once a pod
// reports the image's digest, moving the tag changes nothing either.
#pragma once

#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/api/pod.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

/// The recorded one, or else the manifest's, or else the operator's, which has a separate one for jobs with
/// GPUs. Precondition: the engine accepts the job.
std::string engine_image(const GnnJob& job, const Settings& settings);

/// The image to record: engine_image(), or what the job's own among these pods run, by its digest where one
/// reports that.
std::string image_to_record(const GnnJob& job, const Settings& settings, const std::vector<PodView>& pods);

}  // namespace atl::ctl
