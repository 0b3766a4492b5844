// A controller before the fake API server, on a cluster of four nodes, each with room for one server of 3
// cores and a launcher. Time passes when told to.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "operator/run/controller.h"
#include "operator/run/present_listener.h"
#include "operator_api/sample_job.h"
#include "operator_kube/fake_clock.h"
#include "operator_run/fake_api.h"

namespace atl::ctl {

struct Stage {
  FakeCluster cluster;
  FakeApi api{cluster};
  kube::FakeClock clock;
  kube::Client client;
  Metrics metrics;
  bool leads = true;
  std::string progress;                      // what ranks report; "": nothing
  std::map<std::string, std::string> pages;  // by address: pages of servers that report something else
  Seconds reserve_after{300};
  bool kueue = false;
  ScaleUp scale_up = ScaleUp::kNone;
  int most_servers = 64;
  int writes_at_once = 16, polls_at_once = 16;
  std::string image = "atoll/engine:1";
  bool tells_changes_alone = false;  // the cluster's `changed` names all that changes (FakeWatches)
  PresentListener news;
  std::unique_ptr<Caches> caches;
  std::unique_ptr<Controller> controller;

  Stage() : Stage(kube::RetryRule{.times = 0}) {}
  explicit Stage(const kube::RetryRule& retry);
  ~Stage();  // defined in the .cc, so that the code that ends all the maps within is compiled once

  /// Starts the operator, or another one after it died.
  void start();
  /// Begins the operator's next term, on the caches of the one before.
  void begin_term();

  void submit(const std::string& name, Changes changes = {});
  json& job(const std::string& name = "cora") { return cluster.objects.at({Kind::kJob, name}); }
  Status status(const std::string& name = "cora");
  std::string state(const std::string& name = "cora") { return state_of(status(name).conditions); }
  std::string reason(const char* condition, const std::string& name = "cora");

  void tell_caches();
  /// Works until there is no more news.
  void work();
  void run(
      int seconds, const std::function<bool()>& until = [] { return false; });
  bool has_ended(const std::string& name = "cora") { return ctl::has_ended(status(name).conditions); }
  int count(const std::string& write) const;

 private:
  Options options() const;
  void make_controller();
};

}  // namespace atl::ctl
