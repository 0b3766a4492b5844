// Two installations that handle the same jobs would undo each other's work. So each states in its lease its
// class of jobs and its namespaces, and doesn't begin where it finds a live lease that overlaps. Different
// classes let several installations share a cluster.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "operator/kube/client.h"
#include "operator/kube/lease.h"
#include "operator/run/options.h"

namespace atl::ctl {

class OtherInstallations {
 public:
  /// `own`: our lease. All arguments must outlive it.
  OtherInstallations(kube::Client& client, const Options& options, const kube::LeaseOptions& own,
                     kube::Clock& clock = kube::steady_clock());

  /// Call it before taking our lease. Throws Error, which names a live installation. Only a renewal shows
  /// that one lives, so this may take as long as a lease lasts.
  void expect_none(const std::stop_token& stop);
  /// Call it once we hold our lease: of two installations that begin at once, each may have looked too early.
  /// False where the API server doesn't tell now. Throws Error as above.
  bool expect_none_new();

  /// Enters the holder's class and namespaces into a lease.
  static void describe(const Options& options, kube::LeaseOptions& lease);

 private:
  struct Rival {
    std::string lease, holder, renewed, spaces;  // lease: "space/name"; spaces: "a,b", "": all
    std::chrono::seconds duration{15};
    std::string sign() const { return holder + " " + renewed; }
  };
  std::optional<std::vector<Rival>> look();
  bool is_ours_too(const std::string& spaces) const;
  [[noreturn]] void refuse(const Rival& rival) const;

  kube::Client& client_;
  const Options& options_;
  const kube::LeaseOptions own_;
  kube::Clock& clock_;
  std::map<std::string, std::string> seen_;  // signs of life, by lease
};

}  // namespace atl::ctl
