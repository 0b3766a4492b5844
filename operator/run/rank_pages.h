// What the servers of a job's ranks say of themselves, each asked once.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/run/caches.h"

namespace atl::ctl {

/// A page's text from an address ("http://10.1.0.5:9400", "http://[fd00::5]:9400"), or nothing.
using Ask = std::function<std::optional<std::string>(const std::string& address)>;

class RankPages {
 public:
  /// Of the job's workers that run and have an address. `ask` outlives it.
  RankPages(const Caches& caches, const std::string& job, const Ask& ask, int port);

  bool are_none() const { return pods_.empty(); }
  /// Of the server of `rank`; nothing where that is silent, or isn't there.
  std::optional<std::string> page_of(Rank rank);
  /// Of the first servers, so many at most.
  std::vector<Rank> lowest_ranks(std::size_t most) const;

 private:
  const Ask& ask_;
  int port_;
  std::map<Rank, std::shared_ptr<const PodView>> pods_;
  std::map<const PodView*, std::optional<std::string>> pages_;
};

}  // namespace atl::ctl
