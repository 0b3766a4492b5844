#include "launch/mpirun_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"

namespace atl {
namespace {

class OpenFiles : public testing::Test {
 protected:
  OpenFiles() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void limit(rlim_t soft, rlim_t hard) {
  const rlimit files{soft, hard};
  setrlimit(RLIMIT_NOFILE, &files);
}

void limit_file_sizes(rlim_t bytes) {
  const rlimit size{bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &size);
}

TEST_F(OpenFiles, TheSoftLimitIsRaisedToTheHardOne) {
  EXPECT_EXIT(
      {
        limit(32, 512);
        allow_files(20, {});
        _exit(open_file_limit() == 512 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(OpenFiles, WhatTheHardLimitDoesNotAllowIsRefused) {
  EXPECT_EXIT(
      {
        limit(32, 32);
        try {
          allow_files(2, {});
        } catch (const Error& error) {
          dprintf(STDERR_FILENO, "%s", error.what());
          _exit(3);
        }
      },
      testing::ExitedWithCode(3),
      "at most 32 files may be open here, and mpirun needs about 36 for 2 ranks: raise the hard limit");
}

TEST_F(OpenFiles, ThereIsAConnectionToEachHostOfRanksElsewhere) {
  RemoteHosts hosts;
  for (int host = 0; host < 30; ++host)
    for (int rank = 0; rank < 8; ++rank) hosts.addresses.push_back("10.0.0." + std::to_string(host));
  EXPECT_EXIT(
      {
        limit(32, 64);
        allow_files(240, hosts);
        limit(32, 56);
        try {
          allow_files(240, hosts);
        } catch (const Error& error) {
          dprintf(STDERR_FILENO, "%s", error.what());
          _exit(3);
        }
      },
      testing::ExitedWithCode(3),
      "at most 56 files may be open here, and mpirun needs about 58 for 240 ranks");
}

/// `ulimit -f 4096`: mpirun would end with messages of its parts.
TEST_F(OpenFiles, AreRefusedWhereTheyMayBeTooShortForMpirun) {
  EXPECT_EXIT(
      {
        limit_file_sizes(rlim_t{4} << 20);
        try {
          allow_files(2, {});
        } catch (const Error& error) {
          dprintf(STDERR_FILENO, "%s", error.what());
          _exit(3);
        }
      },
      testing::ExitedWithCode(3), "a file may have 4.00 MiB here, and mpirun wants 8.00 MiB.*ulimit -f");
}

}  // namespace
}  // namespace atl
