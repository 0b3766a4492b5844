// Ranks as threads over slow links that trace their work, and what their traces show of overlap.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"
#include "comm/communicator.h"
#include "comm/slow_transport.h"
#include "comm/trace.h"

namespace atl {

constexpr std::chrono::milliseconds kTransfer{2};  // the time of a bulk message

/// Runs the function on each rank of a group whose bulk messages take that long.
inline void run_traced_ranks(int count, const std::function<void(Communicator&)>& rank_main) {
  std::vector<Trace> traces(static_cast<std::size_t>(count));
  std::vector<std::thread> ranks;
  auto transports = make_slow_group(count, kTransfer);
  for (std::size_t r = 0; r < traces.size(); ++r)
    ranks.emplace_back([&, r] {
      Communicator comm(std::move(transports[r]), {.trace = &traces[r]});
      rank_main(comm);
    });
  for (auto& rank : ranks) rank.join();
}

/// The events of one rank.
inline std::vector<nlohmann::json> events_of(const nlohmann::json& trace, const std::string& category,
                                             int rank) {
  std::vector<nlohmann::json> events;
  for (const nlohmann::json& e : trace["traceEvents"])
    if (e["ph"] == "X" && e["cat"] == category && e["pid"] == rank) events.push_back(e);
  return events;
}

/// The share of the time of messages with rows of other ranks, or their gradients, in which the same rank
/// computes. It is the mean over messages, so that one during which the rank got no processor counts once,
/// however long it took. Every rank must have sent at least `messages` of them.
inline double hidden_share(const nlohmann::json& trace, int ranks, int messages) {
  double travelled = 0, shares = 0;
  int sent_messages = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<nlohmann::json> computed = events_of(trace, "compute", rank);
    for (const nlohmann::json& sent : events_of(trace, "communication", rank)) {
      const std::string purpose = sent["args"]["purpose"];
      if (purpose != "halo" && purpose != "halo_gradient") continue;
      const double begin = sent["ts"], end = begin + double(sent["dur"]);
      travelled += end - begin;
      double hidden = 0;
      for (const nlohmann::json& c : computed) {
        const double from = c["ts"], to = from + double(c["dur"]);
        hidden += std::max(0.0, std::min(end, to) - std::max(begin, from));
      }
      shares += end > begin ? hidden / (end - begin) : 0;
      ++sent_messages;
    }
  }
  EXPECT_GT(travelled, 1e3 * double(kTransfer.count()) * messages * ranks) << "microseconds";
  return shares / sent_messages;
}

}  // namespace atl
