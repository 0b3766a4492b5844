// atoll-operator: reads the command line, and runs the operator until it is told to end. Exit statuses: 0
// ended as told, 1 failed, 2 usage.
#include <malloc.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "base/error.h"
#include "operator/arguments.h"
#include "operator/run/program.h"

namespace {

/// SIGTERM and SIGINT: every thread blocks them, and one waits for them.
sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

void wait_for_end(const std::stop_token& over, std::stop_source& stop) {
  const sigset_t signals = ending_signals();
  const timespec look{0, 200'000'000};
  while (!over.stop_requested() && sigtimedwait(&signals, nullptr, &look) < 0) {
  }
  stop.request_stop();
}

int run(const atl::Arguments& arguments) {
  const sigset_t signals = ending_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  const atl::ctl::Options options = atl::ctl::options_of(arguments);
  std::stop_source stop;
  const std::jthread waiter([&](const std::stop_token& over) { wait_for_end(over, stop); });
  atl::ctl::run_operator(options, stop.get_token(), [] { std::_Exit(atl::kStatusFailed); });
  return 0;
}

}  // namespace

int main(int count, char** words) {
  // Memory that one thread allocates to parse another frees: with an arena per thread, most of it would be
  // held unused.
  mallopt(M_ARENA_MAX, 2);
  try {
    const auto command = atl::ctl::operator_command(run);
    return atl::printed(atl::run_program(count, words, command, "atoll-operator " ATOLL_VERSION),
                        command.name);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "atoll-operator: %s\n", error.what());
  }
  return atl::kStatusFailed;
}
