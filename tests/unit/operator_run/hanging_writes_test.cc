// Writes that take long keep nobody's news from being looked at.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

/// Returns whether it came to be so.
bool comes(const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!is_so() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return is_so();
}

/// An API server that answers nothing about one job.
class DeafToOne final : public kube::Transport {
 public:
  DeafToOne(kube::Transport& inner, std::string job) : inner_(inner), job_(std::move(job)) {}

  std::unique_ptr<kube::Stream> open(const kube::Request& request) override {
    if (request.target.find("/" + job_) != std::string::npos) {
      hangs = true;
      comes([&] { return is_over.load(); });
    }
    return inner_.open(request);
  }

  std::atomic<bool> hangs = false, is_over = false;

 private:
  kube::Transport& inner_;
  const std::string job_;
};

double decided(Controller& controller) {
  const std::string name = "\natoll_job_decided_seconds_count ", text = "\n" + controller.metrics_text();
  const auto at = text.find(name);
  return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size()));
}

TEST(HangingWrites, KeepNoOtherJobFromBeingDecidedOn) {
  Stage stage;
  stage.cluster.training.seconds = 1000;
  stage.submit("cora");
  stage.run(100, [&] { return stage.state() == "Running"; });
  ASSERT_EQ(stage.state(), "Running");

  DeafToOne server(stage.api, "slow");
  kube::Client client(server, {}, {.times = 0});
  Metrics metrics;
  Options options;
  options.settings.image = stage.image;
  PresentListener news;
  Caches caches(scope_of(options), news);
  Controller controller(options, Controller::Dependencies{.caches = caches,
                                                          .news = news,
                                                          .client = client,
                                                          .metrics = metrics,
                                                          .may_write = [] { return true; },
                                                          .now = [now = stage.cluster.now] { return now; }});
  stage.submit("slow");
  stage.api.begin();  // these caches know nothing yet
  stage.api.push(controller.caches());
  {
    const std::jthread looks([&](const std::stop_token& stop) { controller.look(stop); });
    const std::jthread writes([&](const std::stop_token& stop) { controller.write(stop); });
    ASSERT_TRUE(comes([&] { return server.hangs.load(); })) << "its status is written";
    const double before = decided(controller);
    stage.cluster.objects.erase({Kind::kNetworkPolicy, "cora"});
    stage.api.push(controller.caches());
    EXPECT_TRUE(comes([&] { return decided(controller) > before; })) << "the policy is to be made again";
    server.is_over = true;
  }
  EXPECT_EQ(stage.cluster.objects.count({Kind::kJob, "slow"}), 1U);
}

}  // namespace
}  // namespace atl::ctl
