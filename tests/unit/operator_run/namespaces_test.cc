// The whole operator with watchNamespaces, before an API server that records its requests. It lists, watches
// and writes in those namespaces alone, except for its lease, and for nodes and pods, which take room
// wherever they are.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "operator/run/program.h"
#include "operator_kube/scripted_server.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

constexpr const char* kJobs = "/apis/atoll.dev/v1alpha1/namespaces/one/gnnjobs";
constexpr const char* kBadJob =
    R"({"metadata": {"resourceVersion": "1"}, "items": [{"metadata": {"name": "bad", "namespace": "one", "uid": "u",
        "resourceVersion": "1"}, "spec": {"model": {"kind": "nothing"}}}]})";

class Recorder {
 public:
  void serve(kube::Peering& peering) {
    for (std::string request; !(request = peering.request()).empty();) {
      const std::string method = request.substr(0, request.find(' '));
      const std::size_t at = method.size() + 1;
      const std::string target = request.substr(at, request.find(' ', at) - at);
      note(method, target);
      if (target.find("watch=true") != std::string::npos) {
        peering.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        peering.wait_for_close();
        return;
      }
      answer(peering, method, target, request.substr(request.find("\r\n\r\n") + 4));
    }
  }
  /// Paths by what was asked of them: "watch", "GET", "PATCH", …
  std::set<std::string> asked(const std::string& verb) {
    std::lock_guard lock(mutex_);
    return asked_[verb];
  }
  bool has_seen(const std::string& verb, std::size_t paths) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (asked(verb).size() < paths && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return asked(verb).size() >= paths;
  }

 private:
  void note(const std::string& method, const std::string& target) {
    std::lock_guard lock(mutex_);
    const bool is_watch = target.find("watch=true") != std::string::npos;
    asked_[is_watch ? "watch" : method].insert(target.substr(0, target.find('?')));
  }
  static void answer(kube::Peering& peering, const std::string& method, const std::string& target,
                     const std::string& body) {
    if (method == "GET" && target.find("/leases/") != std::string::npos)
      peering.answer(R"({"kind": "Status", "code": 404, "reason": "NotFound"})", "404 Not Found");
    else if (method != "GET")
      peering.answer(method == "PATCH" ? R"({"metadata": {"resourceVersion": "2"}})" : body);
    else if (target.starts_with(kJobs))
      peering.answer(kBadJob);
    else
      peering.answer(R"({"metadata": {"resourceVersion": "1"}, "items": []})");
  }

  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> asked_;
};

std::string kubeconfig_for(const kube::ScriptedServer& server) {
  const auto path = std::filesystem::path(testing::TempDir()) / "namespaces-kubeconfig.yaml";
  std::ofstream(path) << "clusters: [{name: c, cluster: {server: \"" << server.address()
                      << "\"}}]\nusers: [{name: u, user: {}}]\n"
                         "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n";
  return path.string();
}

TEST(Namespaces, OnlyThoseThatAreNamedAreSeenTo) {
  Recorder recorder;
  kube::ScriptedServer server([&](kube::Peering& peering) { recorder.serve(peering); });
  Options options;
  options.kubeconfig = kubeconfig_for(server);
  options.spaces = {"one", "two"};
  options.settings.operator_space = "home";
  options.identity = "me";
  options.metrics_host = "127.0.0.1";
  options.metrics_port = 0;
  std::jthread run([&](const std::stop_token& stop) { run_operator(options, stop, [] { std::abort(); }); });
  EXPECT_TRUE(recorder.has_seen("watch", 10));
  EXPECT_TRUE(recorder.has_seen("PATCH", 1));
  run.request_stop();
  run.join();
  EXPECT_THAT(recorder.asked("watch"),
              UnorderedElementsAre("/api/v1/nodes", "/api/v1/pods", "/api/v1/namespaces/one/pods",
                                   "/api/v1/namespaces/two/pods", "/api/v1/namespaces/one/configmaps",
                                   "/api/v1/namespaces/two/configmaps",
                                   "/apis/networking.k8s.io/v1/namespaces/one/networkpolicies",
                                   "/apis/networking.k8s.io/v1/namespaces/two/networkpolicies",
                                   "/apis/atoll.dev/v1alpha1/namespaces/one/gnnjobs",
                                   "/apis/atoll.dev/v1alpha1/namespaces/two/gnnjobs"));
  for (const std::string& path : recorder.asked("GET"))
    if (!path.starts_with("/apis/coordination.k8s.io/v1/")) {
      EXPECT_THAT(recorder.asked("watch"), Contains(path)) << "what is read is watched";
    }
  EXPECT_THAT(recorder.asked("GET"),
              AllOf(Contains("/apis/coordination.k8s.io/v1/leases"),
                    Contains("/apis/coordination.k8s.io/v1/namespaces/home/leases/atoll-operator")));
  EXPECT_THAT(recorder.asked("PATCH"), ElementsAre(std::string(kJobs) + "/bad/status"));
  for (const std::string& path : recorder.asked("POST"))
    EXPECT_THAT(path, testing::AnyOf("/apis/coordination.k8s.io/v1/namespaces/home/leases",
                                     HasSubstr("/namespaces/one/events")));
}

}  // namespace
}  // namespace atl::ctl
