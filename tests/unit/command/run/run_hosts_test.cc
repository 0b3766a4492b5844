// The server of each rank of `atoll run --hosts`.
#include "command/run/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "command/job_data.h"
#include "command/run/rank_start.h"
#include "telemetry/rank_meter.h"

namespace atl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Sees no servers but those that a test names.
class RunHosts : public testing::Test {
 protected:
  RunHosts() { unset(); }
  ~RunHosts() override { unset(); }

  RemoteHosts on(const std::string& servers, int ranks, int ranks_per_server = 0) {
    arguments_.add("--hosts", servers);
    return run_hosts(arguments_, job(ranks, ranks_per_server));
  }
  static Job job(int ranks, int ranks_per_server = 0) {
    Job job;
    job.placement.ranks = ranks;
    job.placement.ranks_per_server = ranks_per_server;
    return job;
  }
  Arguments arguments_;

 private:
  static void unset() {
    unsetenv("ATOLL_HOSTS");
    unsetenv("ATOLL_SHELL");
    unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  }
};

TEST_F(RunHosts, NoneUnlessNamed) {
  EXPECT_THAT(run_hosts(arguments_, job(4)).addresses, ElementsAre());
}

TEST_F(RunHosts, ConsecutiveRanksShareAServerInEqualShares) {
  EXPECT_THAT(on("a,b", 4).addresses, ElementsAre("a", "a", "b", "b"));
  EXPECT_THAT(on("a,b,c", 4).addresses, ElementsAre("a", "a", "b", "c"));
  EXPECT_THAT(on("a,b,c", 2).addresses, ElementsAre("a", "b"));
}

TEST_F(RunHosts, RanksPerServerOfTheManifestCounts) {
  EXPECT_THAT(on("a,b,c", 4, 2).addresses, ElementsAre("a", "a", "b", "b"));
  EXPECT_THAT(
      [&] { on("a,b", 8, 2); },
      ThrowsMessage<Error>(HasSubstr("8 ranks with placement.ranksPerServer 2 need 4 servers, not 2")));
}

TEST_F(RunHosts, TheEnvironmentNamesThemWhereNoOptionDoes) {
  setenv("ATOLL_HOSTS", "a,b", 1);
  setenv("ATOLL_SHELL", "enter", 1);
  EXPECT_THAT(run_hosts(arguments_, job(2)).addresses, ElementsAre("a", "b"));
  EXPECT_EQ(run_hosts(arguments_, job(2)).shell, "enter");
  EXPECT_THAT(on("c,d", 2).addresses, ElementsAre("c", "d"));
}

TEST_F(RunHosts, ThisMachineAloneNeedsNoShell) {
  EXPECT_THAT(on("localhost,localhost", 2).addresses, ElementsAre());
  EXPECT_THAT(on("127.0.0.1", 4).addresses, ElementsAre());
}

/// mpirun refuses "localhost" in a list of hosts.
TEST_F(RunHosts, ThisMachineAmongOthersIsCalledByItsName) {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  EXPECT_THAT(on("localhost,a", 4).addresses, ElementsAre(name, name, "a", "a"));
  EXPECT_THAT(on("a,127.0.0.1", 2).addresses, ElementsAre("a", name));
}

/// Ranks on other hosts take none of a host's cores.
TEST_F(RunHosts, RanksOfAHostShareItsCores) {
  EXPECT_EQ(most_on_one_host({}), 0);
  EXPECT_EQ(most_on_one_host({"a", "b", "a", "c"}), 2);
  const int cores = available_cores();
  EXPECT_EQ(threads_of(arguments_, job(4), on("a,b,c,d", 4).addresses), cores);
  EXPECT_EQ(threads_of(arguments_, job(8), {"a", "a", "b", "b", "c", "c", "d", "d"}), std::max(1, cores / 2));
  EXPECT_EQ(threads_of(arguments_, job(4 * cores)), 1) << "all here";
  Job stated = job(4);
  stated.resources.cpu = 3;
  EXPECT_EQ(threads_of(arguments_, stated, {"a", "b", "c", "d"}), 3);
}

/// A rank knows its own machine, which the starter doesn't.
TEST_F(RunHosts, ARankTakesItsShareOfItsOwnMachine) {
  const int cores = available_cores();
  setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "2", 1);
  EXPECT_EQ(own_threads(arguments_, job(8), 0), std::max(1, cores / 2)) << "not of the ranks of all hosts";
  unsetenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  EXPECT_EQ(own_threads(arguments_, job(1), 0), cores);
  EXPECT_FALSE(stated_threads(arguments_, job(1)));
  Job stated = job(8);
  stated.resources.cpu = 0.5;
  EXPECT_EQ(own_threads(arguments_, stated, 0), 1);
  stated.resources.cpu = 3;
  EXPECT_EQ(own_threads(arguments_, stated, 0), 3);
  arguments_.add("--threads", "5");
  EXPECT_EQ(own_threads(arguments_, stated, 0), 5);
}

TEST_F(RunHosts, PodsOfANodeShareItsCores) {
  const int cores = available_cores();
  arguments_.add("--places", "a@n1:0;b@n1:1;c@n2:2,3");
  const auto share = [&](int pods_ranks, int nodes_ranks) {
    return std::max(1, cores / (quota_cores() > 0 ? pods_ranks : nodes_ranks));
  };
  EXPECT_EQ(own_threads(arguments_, job(4), 1), share(1, 2));
  EXPECT_EQ(own_threads(arguments_, job(4), 2), share(2, 2));
}

/// A run whose rank 0 was on another machine had taken minus three days to start, or forty: steady clocks
/// begin when their machines do.
TEST_F(RunHosts, TellRank0WhenTheRunBeganByNoOtherMachinesClock) {
  EXPECT_THAT(start_words({}, 1000.5, 1003.5), ElementsAre("--started", "1000.5"));
  EXPECT_THAT(start_words(on("localhost,a", 2), 1000.5, 1003.5), ElementsAre("--started", "1000.5"));
  EXPECT_THAT(start_words(on("a,localhost", 2), 1000.5, 1003.5), ElementsAre("--spent", "3"));
  const auto taken = [](const char* option, const std::string& value) {
    Arguments words;
    words.add(option, value);
    return steady_seconds() - start_seconds_of(words);
  };
  EXPECT_NEAR(taken("--spent", "3"), 3, 1);
  EXPECT_NEAR(taken("--started", std::to_string(steady_seconds() - 5)), 5, 1);
  EXPECT_NEAR(steady_seconds() - start_seconds_of({}), 0, 1);
}

TEST_F(RunHosts, RefusesWhatNamesNoServerAndOptionsOfThisMachine) {
  EXPECT_THAT([&] { on("a,,b", 2); }, ThrowsMessage<Error>(HasSubstr("'a,,b' is not allowed")));
  EXPECT_THAT([&] { on("a:2", 2); }, ThrowsMessage<Error>(HasSubstr("'a:2' is not allowed")));
  arguments_.add("--metrics", "9400");
  EXPECT_THAT([&] { on("a,b", 2); }, ThrowsMessage<Error>(HasSubstr("--metrics")));
}

}  // namespace
}  // namespace atl
