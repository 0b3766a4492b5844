// The API server in front of the fake cluster: its verbs as HTTP requests, and versions of objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/kube/transport.h"
#include "operator/run/kinds.h"
#include "operator_controller/fake_cluster.h"
#include "operator_run/fake_watches.h"

namespace atl::ctl {

/// A body that is complete.
class TextStream final : public kube::Stream {
 public:
  TextStream(int status, std::string body) : head_{status, {}}, body_(std::move(body)) {}
  const kube::Head& head() const override { return head_; }
  std::size_t read(char* into, std::size_t size, kube::Milliseconds) override;
  void cancel() override {}

 private:
  const kube::Head head_;
  const std::string body_;
  std::size_t at_ = 0;
};

class FakeApi final : public kube::Transport, public FakeWatches {
 public:
  struct Refusal {
    int code;
    std::string reason, message;
    int retry_after = 0;  // seconds
  };
  /// What a path names.
  struct Target {
    std::string plural, name, sub;
  };
  /// What of an exchange gets lost: the request, or the answer to what the server has done.
  enum class Loss { kNone, kRequest, kAnswer };

  explicit FakeApi(FakeCluster& cluster) : cluster_(cluster) {}

  /// Refuses requests for which it returns something.
  std::function<std::optional<Refusal>(const std::string& method, const Target&)> refuse;
  std::function<Loss(const std::string& method, const Target&)> lose;
  std::function<void(json&)> admit;  // changes a pod that is made, as admission does
  std::function<void(const std::string& job, const json& before, const json& after)> on_status;
  /// The log of a prepare pod.
  std::function<std::string(const std::string& pod)> log = [](const std::string&) { return kLog; };
  std::vector<std::string> writes;                           // "POST pods cora-0-0"
  std::vector<std::string> reads;                            // "gnnjobs cora"
  std::vector<json> trials;                                  // objects of dry runs
  std::function<std::optional<Refusal>(const json&)> judge;  // refuses such objects
  std::function<void(json&)> keep_otherwise;                 // changes a status that is written
  std::set<std::string> hidden_nodes;                        // deleted ones whose pods run on
  std::map<std::string, json> events;
  int cut_in = -1;  // the operator dies at this write, counted from now; −1: never
  // the operator dies before the answer, but after the server has acted; else before the server gets the
  // request
  bool cut_after = false;
  bool is_cut = false;               // since then no request comes through
  std::vector<std::string> made;     // "pods cora-0-0", once per creation
  std::map<std::string, json> more;  // objects that are only read: "priorityclasses/urgent"

  std::unique_ptr<kube::Stream> open(const kube::Request& request) override;

  /// Forgets what was asked and made so far.
  void forget_requests();

 private:
  static constexpr const char* kLog =
      "loading\n{\"preparedChecksum\":\"p\",\"ranks\":4,\"flows\":[[0,2,100],[1,3,50]]}\n";

  [[noreturn]] static void fail_as_cut();
  [[noreturn]] static void time_out();
  std::unique_ptr<kube::Stream> serve(const kube::Request& request, const Target& target);
  static Target target_of(const kube::Request& request);
  static Kind kind_of(const Target& target);
  static std::unique_ptr<kube::Stream> answer(std::string body);
  static std::unique_ptr<kube::Stream> status(int code, const std::string& reason, const std::string& message,
                                              int retry_after = 0);
  bool exists(const Target& target) const;
  json& object(const Target& target);
  json shown(const Target& target) { return versioned(target.plural + "/" + target.name, object(target)); }
  /// The object with its version, which is new wherever the object has changed.
  json versioned(const std::string& path, json object);

  std::unique_ptr<kube::Stream> try_out(const kube::Request& request, const Target& target);
  std::unique_ptr<kube::Stream> create(const kube::Request& request, const Target& target);
  std::unique_ptr<kube::Stream> patch(const kube::Request& request, const Target& target);
  std::unique_ptr<kube::Stream> keep_status(const json& before, const json& after, const Target& target);
  std::unique_ptr<kube::Stream> remove(const kube::Request& request, const Target& target);
  std::unique_ptr<kube::Stream> take_event(const kube::Request& request, const Target& target);

  static json node_json(const std::string& name, const FakeNode& node);
  std::map<std::string, json> all() override;
  std::map<std::string, json> changes() override;

  FakeCluster& cluster_;
  std::mutex mutex_;
  std::map<std::string, std::pair<std::string, std::uint64_t>> versions_;
  std::uint64_t last_version_ = 0;
};

}  // namespace atl::ctl
