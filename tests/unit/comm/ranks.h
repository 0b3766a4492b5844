// Runs a function on every rank of a local group, each in a thread of its own, and passes on their
// exceptions.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "comm/communicator.h"
#include "comm/transports.h"

namespace atl {

/// The message of each rank's exception, "" where it ended well.
inline std::vector<std::string> failures_of_ranks(std::vector<std::unique_ptr<Transport>> transports,
                                                  Communicator::Options options,
                                                  const std::function<void(Communicator&)>& rank_main) {
  std::vector<std::string> failures(transports.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < transports.size(); ++r)
    threads.emplace_back([&, r] {
      try {
        Communicator comm(std::move(transports[r]), options);
        rank_main(comm);
      } catch (const std::exception& e) {
        failures[r] = e.what();
      }
    });
  for (auto& thread : threads) thread.join();
  return failures;
}

/// Throws the first rank's failure, if any.
inline void run_ranks(int ranks, const std::function<void(Communicator&)>& rank_main,
                      std::vector<std::string> hosts = {}) {
  const auto failures = failures_of_ranks(make_local_group(ranks, std::move(hosts)), {}, rank_main);
  for (std::size_t r = 0; r < failures.size(); ++r)
    if (!failures[r].empty()) throw std::runtime_error("rank " + std::to_string(r) + ": " + failures[r]);
}

}  // namespace atl
