// Terms of one replica: what it knew stays, what it had decided goes, and it contends again in the same
// process.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "operator/run/program.h"
#include "operator_kube/scripted_server.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;

/// Returns whether it came to be so.
bool comes(const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!is_so() && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return is_so();
}

TEST(Terms, WhatOneHasDecidedAndNotWrittenIsNothingToTheNext) {
  Stage stage;
  for (const char* node : {"n1", "n2", "n3"}) stage.cluster.occupy(node, 3000, std::string("app-") + node);
  stage.submit("one");
  stage.run(60);
  ASSERT_EQ(stage.reason(kPlaced, "one"), "NoRoom");
  stage.controller->job_changed("team/one", "");
  stage.work();  // where its claims can be used is known for a while
  for (const char* node : {"n1", "n2", "n3"}) stage.cluster.pods.erase(std::string("app-") + node);
  stage.tell_caches();
  stage.clock.advance(std::chrono::seconds(1));
  {
    const std::jthread looks([&](const std::stop_token& stop) { stage.controller->look(stop); });
    ASSERT_TRUE(comes([&] { return stage.controller->remembered().at("errands") > 0; })) << "nobody writes";
  }
  ASSERT_GT(stage.caches->room().bookings(), 0U) << "it has found its nodes";
  stage.api.forget_requests();
  stage.begin_term();
  EXPECT_EQ(stage.caches->room().bookings(), 0U) << "others may have this room now";
  EXPECT_THAT(stage.api.writes, testing::IsEmpty());
  stage.run(60, [&] { return stage.state("one") == "Running"; });
  EXPECT_EQ(stage.state("one"), "Running");
  const std::set<std::string> once(stage.api.made.begin(), stage.api.made.end());
  EXPECT_EQ(once.size(), stage.api.made.size()) << testing::PrintToString(stage.api.made);
}

TEST(Terms, NewsGoesToTheNextOnTheSameCaches) {
  Stage stage;
  stage.cluster.training.seconds = 1000;
  stage.submit("cora");
  for (int terms = 0; terms < 20; ++terms) {
    stage.begin_term();
    stage.run(3);
  }
  stage.run(60, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(stage.state(), "Running");
  EXPECT_EQ(stage.cluster.runs["cora"].launches, 1);
  EXPECT_EQ(stage.cluster.prepares, 1);
}

/// An API server with one job, which the operator refuses, and with a lease; when overloaded, it refuses
/// whatever is asked about leases.
class Server {
 public:
  std::atomic<bool> is_overloaded = false;

  std::string address() const { return server_.address(); }
  std::ptrdiff_t count(const std::string& request) {
    std::lock_guard lock(mutex_);
    return std::ranges::count(requests_, request);
  }

 private:
  void serve(kube::Peering& peering) {
    for (std::string request; !(request = peering.request()).empty();) {
      const std::string method = request.substr(0, request.find(' '));
      const std::size_t at = method.size() + 1;
      const std::string target = request.substr(at, request.find(' ', at) - at);
      if (target.find("watch=true") != std::string::npos) {
        peering.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        peering.wait_for_close(300);
        return;
      }
      std::lock_guard lock(mutex_);
      requests_.push_back(method + " " + target.substr(0, target.find('?')));
      answer(peering, method, target, request.substr(request.find("\r\n\r\n") + 4));
    }
  }
  void answer(kube::Peering& peering, const std::string& method, const std::string& target,
              const std::string& body) {
    if (target.find("/leases") != std::string::npos && is_overloaded)
      peering.answer(R"({"kind": "Status", "code": 429, "message": "too many requests"})",
                     "429 Too Many Requests");
    else if (method == "PATCH")
      peering.answer(R"({"metadata": {"resourceVersion": "2"}})");
    else if (method != "GET")
      take(peering, target, body);
    else if (target.find("/leases/") != std::string::npos)
      peering.answer(lease_.empty() ? R"({"kind": "Status", "code": 404, "reason": "NotFound"})" : lease_,
                     lease_.empty() ? "404 Not Found" : "200 OK");
    else
      peering.answer(R"({"metadata": {"resourceVersion": "1"}, "items": [)" +
                     std::string(target.find("/gnnjobs") == std::string::npos ? "" : kJob) + "]}");
  }

  void take(kube::Peering& peering, const std::string& target, const std::string& body) {
    if (target.find("/leases") != std::string::npos) lease_ = body;
    peering.answer(body);
  }

  static constexpr const char* kJob =
      R"({"metadata": {"name": "bad", "namespace": "one", "uid": "u", "resourceVersion": "1"},
          "spec": {"model": {"kind": "nothing"}}})";

  std::mutex mutex_;
  std::string lease_;
  std::vector<std::string> requests_;  // "GET /api/v1/nodes"
  kube::ScriptedServer server_{[this](kube::Peering& peering) { serve(peering); }};
};

constexpr const char* kStatusWrite = "PATCH /apis/atoll.dev/v1alpha1/namespaces/one/gnnjobs/bad/status";

/// With a lease that must be renewed within six seconds.
Options options_for(const std::string& server, int port) {
  const auto path = std::filesystem::path(testing::TempDir()) / "terms-kubeconfig.yaml";
  std::ofstream(path) << "clusters: [{name: c, cluster: {server: \"" << server
                      << "\"}}]\nusers: [{name: u, user: {}}]\n"
                         "contexts: [{name: x, context: {cluster: c, user: u}}]\ncurrent-context: x\n";
  Options options;
  options.kubeconfig = path.string();
  options.settings.operator_space = "home";
  options.identity = "me";
  options.metrics_host = "127.0.0.1";
  options.metrics_port = port;
  options.lease = Seconds(9);
  options.renew_within = Seconds(6);
  options.lease_retry = Seconds(1);
  return options;
}

/// The operator as a program runs it.
class Replica {
 public:
  explicit Replica(const std::string& server)
      : port_(kube::ScriptedServer([](kube::Peering&) {}).port()), options_(options_for(server, port_)) {
    run_ = std::jthread([this](const std::stop_token& stop) {
      run_operator(options_, stop, [] { ADD_FAILURE() << "a call doesn't end"; });
      has_ended = true;
    });
  }
  std::string page(const std::string& path) const {
    const auto transport = kube::cpprest_transport("http://127.0.0.1:" + std::to_string(port_),
                                                   [] { return std::make_shared<kube::Credentials>(); });
    kube::Request request;
    request.target = path;
    const kube::Response answer = transport->call(request);
    return std::to_string(answer.head.status) + " " + answer.body;
  }
  bool leads() const {
    return page("/metrics").find("leader_election_master_status{name=\"atoll-operator\"} 1") !=
           std::string::npos;
  }
  void end() {
    run_.request_stop();
    run_.join();
  }

  std::atomic<bool> has_ended = false;

 private:
  const int port_;
  const Options options_;
  std::jthread run_;
};

TEST(Terms, ALostLeaseIsContendedForInTheSameProcess) {
  Server server;
  Replica replica(server.address());
  ASSERT_TRUE(comes([&] { return server.count(kStatusWrite) == 1; }));
  EXPECT_TRUE(replica.leads());
  server.is_overloaded = true;
  ASSERT_TRUE(comes([&] { return !replica.leads(); }));
  EXPECT_EQ(replica.page("/healthz"), "200 ok\n");
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_FALSE(replica.has_ended);
  EXPECT_EQ(server.count(kStatusWrite), 1) << "nothing is written without the lead";
  server.is_overloaded = false;
  ASSERT_TRUE(comes([&] { return server.count(kStatusWrite) == 2; }))
      << "what the last term waited for is asked anew";
  EXPECT_TRUE(replica.leads());
  EXPECT_EQ(replica.page("/readyz"), "200 ok\n");
  EXPECT_THAT(replica.page("/metrics"), HasSubstr("atoll_watch_lists{path=\"/api/v1/nodes\"} 1"));
  EXPECT_EQ(server.count("GET /api/v1/nodes"), 1) << "the caches are those of the last term";
  replica.end();
  EXPECT_TRUE(replica.has_ended);
}

/// By then its caches are being filled.
TEST(Terms, NoneBeginsWhereThePagesPortIsTaken) {
  Server server;
  const kube::ScriptedServer taken([](kube::Peering&) {});
  EXPECT_THROW(run_operator(options_for(server.address(), taken.port()), {}, [] {}), Error);
}

}  // namespace
}  // namespace atl::ctl
