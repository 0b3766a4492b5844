// Which rank should run where, as the launcher tells it to each rank: a rank that finds itself elsewhere says so before
// it trains, because then neither the plan's costs nor its promises hold.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

/// A pod (its host name) and the ranks in it.
struct Place {
  std::string host;
  std::vector<Rank> ranks;
};

/// "cora-0-0:0,1;cora-1-0:2,3".
std::string places_text(std::span<const Place> places);

/// The ranks that `text` puts beside `rank`, itself among them. Throws Error where it puts it nowhere.
std::vector<Rank> ranks_beside(const std::string& text, Rank rank);

/// Throws Error, naming both hosts, unless `text` puts `rank` on `host`.
void check_place(const std::string& text, Rank rank, const std::string& host);

}  // namespace atl
