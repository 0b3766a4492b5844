// Everything at once, at random: pods and nodes die and come back, strangers take room, users suspend, the
// operator is killed or away. In the end the job completes, once, and nothing is left. The seed determines
// all draws.
#include <gmock/gmock.h>

#include <random>

#include "operator_controller/world.h"

namespace atl::ctl {
namespace {

class Chaos {
 public:
  Chaos(World& world, unsigned seed) : world_(world), random_(seed) {}

  void strike() {
    switch (draw(9)) {
      case 0:
        return world_.kill_node(node());
      case 1:
        return world_.heal_node(node());
      case 2:
        return end_a_pod();
      case 3:
        return delete_a_pod();
      case 4:
        return world_.suspend(draw(3) == 0);
      case 5:
        return stranger();
      case 6:
        world_.atoll.is_down = true;
        return;
      case 7:
        world_.atoll.kill_after = world_.atoll.writes + draw(6);
        return;
      default:
        world_.cluster.nodes.at(node()).pulls_images = draw(2) == 0;
    }
  }

  void calm() {
    for (auto& [name, node] : world_.cluster.nodes) {
      world_.heal_node(name);
      node.pulls_images = true;
    }
    world_.cluster.pods.erase("stranger");
    world_.suspend(false);
    world_.atoll.is_down = false;
    world_.cluster.is_changed = true;
  }

  int draw(int below) { return int(random_() % unsigned(below)); }

 private:
  std::string node() { return "n" + std::to_string(1 + draw(4)); }

  std::string a_pod() {
    std::vector<std::string> names;
    for (const auto& [name, pod] : world_.cluster.pods)
      if (!label_of(pod, kJobLabel).empty()) names.push_back(name);
    return names.empty() ? "" : names[std::size_t(draw(int(names.size())))];
  }

  void end_a_pod() {
    const std::string name = a_pod();
    if (!world_.cluster.is_running(name)) return;
    world_.cluster.end_pod(name, 137, draw(2) == 0 ? "OOMKilled" : "Error", "");
  }

  void delete_a_pod() {
    const std::string name = a_pod();
    if (name.empty() || world_.cluster.pods.at(name).at("metadata").contains("deletionTimestamp")) return;
    const std::string uid = world_.cluster.pods.at(name).at("metadata").at("uid");
    world_.cluster.remove(Kind::kPod, name, uid, draw(2) == 0 ? std::optional<int>(0) : std::nullopt);
  }

  void stranger() {
    if (world_.cluster.pods.erase("stranger") == 0) world_.cluster.occupy(node(), 3000);
    world_.cluster.is_changed = true;
  }

  World& world_;
  std::mt19937 random_;
};

void live_through(unsigned seed, const std::vector<std::string>& jobs, const char* launcher = "atoll") {
  SCOPED_TRACE("seed " + std::to_string(seed));
  World world;
  world.cluster.training.seconds = 100;
  Chaos chaos(world, seed);
  for (const std::string& job : jobs)
    world.atoll.submit(sample_job_json({{"/metadata/name", job},
                                        {"/metadata/uid", "uid-of-" + job},
                                        {"/spec/launcher", launcher},
                                        {"/spec/runPolicy/backoffLimit", 1000},
                                        {"/spec/runPolicy/startDeadlineSeconds", 40}}));
  for (int blow = 0; blow < 40; ++blow) {
    world.atoll.run(1 + chaos.draw(15));
    world.atoll.is_down = false;
    chaos.strike();
  }
  chaos.calm();
  for (const std::string& job : jobs) world.run_to_end(6000, job);
  for (const std::string& job : jobs) {
    EXPECT_EQ(world.atoll.state(job), "Succeeded") << world.atoll.job(job).dump(1);
    EXPECT_EQ(world.cluster.runs[job].completions, 1);
  }
  for (const auto& [name, pod] : world.cluster.pods)
    EXPECT_TRUE(phase_of(pod) == "Succeeded" || phase_of(pod) == "Failed") << name << " takes room";
}

TEST(Chaos, EndsWithTheJobCompletedOnce) {
  for (unsigned seed = 1; seed <= 60 && !HasFailure(); ++seed) live_through(seed, {"cora"});
}

TEST(Chaos, EndsWithTheJobCompletedOnceWhereMpiOperatorMakesItsPods) {
  for (unsigned seed = 1; seed <= 40 && !HasFailure(); ++seed) live_through(seed, {"cora"}, "mpijob");
}

TEST(Chaos, EndsWithAllJobsCompletedWhereThereIsRoomForTwoOfThree) {
  for (unsigned seed = 1; seed <= 20 && !HasFailure(); ++seed)
    live_through(seed, {"cora", "second", "third"});
}

}  // namespace
}  // namespace atl::ctl
