// What the servers of a job's ranks report on their pages, and which rank they wait for. The answers come
// from containers and aren't trusted. Slow, large or meaningless answers cost us no more than a few
// connections and one write of the status each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"
#include "operator/run/caches.h"

namespace atl::ctl {

/// Asks an address ("http://10.1.0.5:9400", "http://[fd00::5]:9400") for its page; nothing if there is no
/// answer.
using Ask = std::function<std::optional<std::string>(const std::string& address)>;

class RankPages {
 public:
  /// Asks the running workers of the job that have an address. `ask` must outlive it.
  RankPages(const Caches& caches, const std::string& job, const Ask& ask, int port);

  bool are_none() const { return pods_.empty(); }
  /// The page of the server on which `rank` runs; nothing if that server is silent or doesn't exist.
  std::optional<std::string> page_of(Rank rank);
  /// The lowest rank of each of the first servers. At most `most` ranks are returned.
  std::vector<Rank> lowest_ranks(std::size_t most) const;

 private:
  const Ask& ask_;
  int port_;
  std::map<Rank, std::shared_ptr<const PodView>> pods_;
  std::map<const PodView*, std::optional<std::string>> pages_;
};

/// Asks over HTTP for /progress, and takes at most 64 KiB within 2 s.
std::optional<std::string> ask_for_progress(const std::string& address);

/// The number of finished steps of the epoch, from a rank's /progress; nothing where an epoch has one step.
std::optional<std::int64_t> read_step(const std::string& text);

/// Nothing if the text isn't a rank's /progress.
std::optional<Progress> read_progress(const std::string& text);

// Finds the rank for which a job that doesn't advance waits. Each server says whom each of its ranks waits
// for. These waits are followed from rank to rank, across servers, until a rank that waits for nobody or
// doesn't answer. That rank hangs, and all others wait because of it. Servers aren't trusted: a wrong answer
// can make us name another rank of the same job, and ask a few servers, but no more.

/// The ranks of one server, and which ranks each waits for; nothing for a rank that doesn't answer.
using ServerWaits = std::map<Rank, std::optional<std::vector<Rank>>>;

/// Reads a /progress page; nothing if the text isn't such a page. Ranks that a job of `ranks` ranks doesn't
/// have are left out.
std::optional<ServerWaits> read_waits(const std::string& text, int ranks);

/// Asks the server of a rank; nothing where it is silent. Called once for a server that knows the rank.
using AskServer = std::function<std::optional<ServerWaits>(Rank)>;

/// Follows the waits from `first`. Nothing if they form a circle, or pass through more than a few servers.
std::optional<Rank> stalled_rank(Rank first, const AskServer& ask);

}  // namespace atl::ctl
