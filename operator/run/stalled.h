// Which rank a job that doesn't advance waits for. Each server says whom each of its ranks waits for. Followed from rank to
// rank, across servers, the waits end at one that waits for nobody or doesn't answer: that one hangs, and all others for its
// sake. What servers say is not trusted: it can make us name another rank of the same job, and ask a few servers, no more.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl::ctl {

/// The ranks of one server, and whom each waits for; nothing of a rank that doesn't answer.
using ServerWaits = std::map<Rank, std::optional<std::vector<Rank>>>;

/// From a /progress page; ranks that a job of so many doesn't have are left out. Nothing where the text isn't such a page.
std::optional<ServerWaits> read_waits(const std::string& text, int ranks);

/// What the server of a rank says; nothing where it is silent. Asked once for a server that knows the rank.
using AskServer = std::function<std::optional<ServerWaits>(Rank)>;

/// `first`: where to begin. Nothing where the waits go round in a circle, or through more than a few servers.
std::optional<Rank> stalled_rank(Rank first, const AskServer& ask);

}  // namespace atl::ctl
