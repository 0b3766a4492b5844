// Other installations in the same cluster. Two installations that handle the same jobs would undo each
// other's work. So each writes its class of jobs and its namespaces into its lease, and doesn't begin if it
// finds a live lease that overlaps. Installations with different classes can share a cluster.
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
  /// `own` is our lease. All arguments must outlive it.
  OtherInstallations(kube::Client& client, const Options& options, const kube::LeaseOptions& own,
                     kube::Clock& clock = kube::steady_clock());

  /// Is called before we take our lease. Throws Error if another installation is live, and names it. Only a
  /// renewal shows that a lease is live, so this may take as long as a lease lasts.
  void expect_none(const std::stop_token& stop);
  /// Is called once we hold our lease, because two installations that begin at the same time may each have
  /// looked too early. Returns false if the API server doesn't answer now. Throws Error as above.
  bool expect_none_new();

  /// Writes the holder's class and namespaces into a lease.
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
