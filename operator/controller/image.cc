// Which engine a job's pods run: the same in all of them, because ranks of two builds refuse each other. It is chosen when the
// first pod is made and kept when the operator's own default is another one later; from when a pod tells its digest, a tag that
// is moved changes nothing either.
#include <algorithm>

#include "operator/controller/questions.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"

namespace atl::ctl {
namespace {

/// "registry:5000/atoll/engine" of "registry:5000/atoll/engine:1"
std::string repository_of(const std::string& image) {
  const auto name = image.rfind('/') + 1;  // 0 where there is none
  return image.substr(0, image.find_first_of(":@", name));
}

/// The image under a name that never means another; "" where kubelet tells none: an image that was loaded into a node has no
/// digest in a registry. `id`: kubelet's, which writes short names of the Docker Hub's out.
std::string by_digest(const std::string& image, std::string id) {
  if (const auto scheme = id.find("://"); scheme != std::string::npos) id.erase(0, scheme + 3);
  const auto digest = id.find("@sha256:");
  if (digest == std::string::npos) return {};
  const std::string told = id.substr(0, digest), named = repository_of(image);
  const bool is_same = told == named || told == "docker.io/" + named || told == "docker.io/library/" + named;
  return is_same ? named + id.substr(digest) : "";
}

}  // namespace

void keep_image(Turn& turn) {
  std::string image = turn.job().made_of.image;
  for (const PodView& pod : turn.seen.pods) {
    if (!is_own(pod.meta, turn.seen)) continue;
    if (image.empty()) image = pod.image;  // made by an operator that recorded none
    const ContainerView* engine = pod.container(kEngine);
    if (!engine || pod.image != image || image.find('@') != std::string::npos) continue;
    // Nodes that never pull have it by its tag alone.
    if (turn.settings.pull_policy == "Never") continue;
    if (const std::string pinned = by_digest(image, engine->image_id); !pinned.empty()) image = pinned;
  }
  turn.use_image(image.empty() ? engine_image(turn.job(), turn.settings) : image);
}

}  // namespace atl::ctl
