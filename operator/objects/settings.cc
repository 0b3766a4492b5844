#include "operator/objects/settings.h"

#include "operator/objects/names.h"

namespace atl::ctl {
namespace {

/// "registry:5000/atoll/engine" of "registry:5000/atoll/engine:1".
std::string repository_of(const std::string& image) {
  const auto name = image.rfind('/') + 1;  // 0 if there is no '/'
  return image.substr(0, image.find_first_of(":@", name));
}

/// The image named by its digest, which never means another image. "" if kubelet reports no digest, as for an
/// image that was loaded into a node without a registry. `id` is kubelet's, which spells out short names of
/// the Docker Hub.
std::string by_digest(const std::string& image, std::string id) {
  if (const auto scheme = id.find("://"); scheme != std::string::npos) id.erase(0, scheme + 3);
  const auto digest = id.find("@sha256:");
  if (digest == std::string::npos) return {};
  const std::string told = id.substr(0, digest), named = repository_of(image);
  const bool is_same = told == named || told == "docker.io/" + named || told == "docker.io/library/" + named;
  return is_same ? named + id.substr(digest) : "";
}

}  // namespace

std::string engine_image(const GnnJob& job, const Settings& settings) {
  if (!job.made_of.image.empty()) return job.made_of.image;
  if (!job.job->image.empty()) return job.job->image;
  return job.job->resources.gpus > 0 && !settings.cuda_image.empty() ? settings.cuda_image : settings.image;
}

std::string image_to_record(const GnnJob& job, const Settings& settings, const std::vector<PodView>& pods) {
  std::string image = job.made_of.image;
  for (const PodView& pod : pods) {
    // A placeholder runs no engine. It may outlive all other pods, for example if the API server refuses to
    // delete it.
    if (pod.meta.owner_uid != job.meta.uid || pod.meta.label(kRoleLabel) == kPlaceholderRole) continue;
    if (image.empty()) image = pod.image;  // an operator made the pod that recorded no image
    const ContainerView* engine = pod.container(kEngine);
    if (!engine || pod.image != image || image.find('@') != std::string::npos) continue;
    // Nodes that never pull know an image by its tag alone.
    if (settings.pull_policy == "Never") continue;
    if (const std::string pinned = by_digest(image, engine->image_id); !pinned.empty()) image = pinned;
  }
  return image.empty() ? engine_image(job, settings) : image;
}

}  // namespace atl::ctl
