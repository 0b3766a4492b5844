// The words for a rank from which nothing comes: the same whatever carries messages.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "comm/ledger.h"
#include "comm/transport.h"

namespace atl {

/// "rank 1 on server1, rank 3 on server2"
std::string names_of(const Transport& transport, const std::vector<Rank>& ranks);

/// Of an exchange that has waited so long for these ranks.
std::string silence_of(Traffic purpose, std::chrono::milliseconds timeout, const std::string& names);
inline constexpr const char* kSilenceAdvice = "; check that it still runs and that its link is up";

}  // namespace atl
