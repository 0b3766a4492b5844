// A cluster in which anything happens: caches, and beside them the same as plain objects, so that what the
// caches' followers say can be counted from nothing.
#pragma once

#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/run/caches.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {

using nlohmann::json;

/// Caches, and beside them everything that they were told, as plain objects.
class RandomCluster {
 public:
  explicit RandomCluster(unsigned seed);
  Caches& caches() { return caches_; }

  void happen();

  /// The whole cluster, pod by pod.
  Snapshot counted() const;
  std::string any_job() { return "team/" + job_name(); }

 private:
  struct Deaf final : CacheListener {
    void job_changed(const std::string&, const std::string&) override {}
    void job_gone(const std::string&) override {}
    void room_changed() override {}
  };

  int draw(int below) { return int(random_() % unsigned(below)); }
  std::string job_name() { return "job-" + std::to_string(draw(4)); }
  std::string node_name() { return "n" + std::to_string(draw(12)); }
  template <class Objects>
  auto any(Objects& objects) {
    return std::next(objects.begin(), draw(int(objects.size())));
  }
  json requests();

  kube::Store& store(const std::string& plural, bool of_others = false);
  void put(kube::Store& store, json& object);
  static json named(const std::string& name, const std::string& space = "");

  void put_node();
  void remove_node();
  void put_other_pod();
  void remove_other_pod();
  /// Waiting, or with places for its workers.
  void put_job();
  void remove_job();
  /// Some say that they are a job's and aren't; some are pinned, bound, or at their end.
  void put_job_pod();
  void remove(std::map<std::string, json>::iterator pod);
  void remove_job_pod();
  void book();
  void cancel();
  /// A pod ends, and another is bound.
  void move_on();

  std::string owner_of(const json& pod) const;
  std::string planned(const std::string& name, const std::string& owner, const json& pod) const;

  std::mt19937 random_;
  int versions_ = 0;
  std::map<std::string, json> nodes_, others_, jobs_, job_pods_;   // the latter by full name
  std::map<std::string, std::pair<std::string, Booking>> booked_;  // by full name: job and booking
  Deaf deaf_;
  Caches caches_{{}, deaf_};
};

}  // namespace atl::ctl
