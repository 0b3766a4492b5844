// A cluster of two nodes, each with room for one server, and an autoscaler that adds others for a gang of
// six.
#pragma once

#include <string>
#include <vector>

#include "operator_controller/fake_autoscaler.h"
#include "operator_controller/world.h"

namespace atl::ctl {

inline json six_servers() {
  return sample_job_json({{"/spec/placement", {{"ranks", 12}, {"ranksPerServer", 2}}}});
}

struct SmallWorld : World {
  FakeAutoscaler autoscaler{cluster};

  SmallWorld() {
    atoll.settings.scale_up = ScaleUp::kPlaceholders;
    atoll.settings.placeholder_image = "pause:1";
    atoll.settings.placeholder_class = "atoll-placeholder";
    cluster.nodes.erase("n3");
    cluster.nodes.erase("n4");
  }
  std::vector<std::string> placeholders(const std::string& job = "cora") const {
    return cluster.pods_of(job, kPlaceholderRole);
  }
  Condition condition(const char* type) {
    const Status status = atoll.status();
    const Condition* found = find_condition(status.conditions, type);
    return found ? *found : Condition{};
  }
  void until_asked(int seconds = 60) {
    atoll.run(seconds, [&] { return !placeholders().empty(); });
    ASSERT_THAT(placeholders(), testing::SizeIs(7)) << "six servers and a launcher";
  }
  /// The claim of the output, which server 0 mounts, is bound to a zone.
  void bind_output_to(const std::string& zone) {
    atoll.add = [this, zone](Observed&) {
      atoll.view.of.plan = [this, zone](Gang gang) {
        const LabelRule rule{"zone", "In", {zone}, false};
        const std::vector<LabelRule> term{rule};
        for (GangVolume& volume : gang.volumes)
          if (volume.mounters == Mounters::kFirstServer) volume.place.terms = {term};
        return plan_gang(gang, cluster.snapshot());
      };
    };
  }
};

}  // namespace atl::ctl
