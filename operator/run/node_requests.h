// For whom nodes may be asked of an autoscaler, since each costs money: for so many servers in all, and for
// half as many of one namespace, so that none can use up what others could ask for. Gangs that come first in
// order have the first right. A gang that has asked keeps to that until one that comes before it wants it.
//
// Which gangs have asked is in the cluster; what is kept here is those that want to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "operator/controller/observed.h"
#include "operator/run/waiting_gangs.h"

namespace atl::ctl {

/// Thread-safe. Jobs are named "space/name".
class NodeRequests {
 public:
  /// `most`: servers for which nodes are asked at a time, by all jobs.
  explicit NodeRequests(int most) : most_(most), most_of_space_((most + 1) / 2) {}

  /// Why the job may not ask for so many servers now, for a message; "": it may, and counts as one that does.
  std::string why_not(const std::string& job, const Precedence& order, std::size_t servers);
  /// The job wants nothing, and has nothing any more.
  void forget(const std::string& job);
  /// Takes over what jobs have asked for according to their statuses.
  void restore(const Caches& caches);
  /// Jobs that ask, or want to.
  std::size_t size() const;

 private:
  struct Wish {
    Precedence order;
    std::int64_t servers = 0;
    bool is_granted = false;
  };

  const std::int64_t most_, most_of_space_;
  mutable std::mutex mutex_;  // guards:
  std::map<std::string, Wish> wishes_;
};

/// Whether anything of the job's own asks for nodes.
bool has_requests(const Observed& seen);

}  // namespace atl::ctl
