// Two installations that see to the same jobs would undo each other's work. So each says in its lease which
// class of jobs it sees to, and in which namespaces; and one that finds such a lease alive doesn't begin.
// Classes let several share a cluster.
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
  /// `own`: our lease. All must outlive it.
  OtherInstallations(kube::Client& client, const Options& options, const kube::LeaseOptions& own,
                     kube::Clock& clock = kube::steady_clock());

  /// Before our lease is taken. Throws Error naming an installation that lives; whether one does shows only
  /// in its lease being renewed, so this may take as long as a lease lasts.
  void expect_none(const std::stop_token& stop);
  /// Once we hold it: of two that began at once, each may have looked too early.
  void expect_none_new();

  /// What a lease says of its holder's jobs.
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
  std::map<std::string, std::string> seen_;  // signs, by lease
};

}  // namespace atl::ctl
