#include "train/checkpoint/attempt.h"

#include <fstream>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"

namespace atl {
namespace {

/// "4 a1b2 3": the folder's fourth attempt, the first of run a1b2; "4" where nobody else counts.
struct Newest {
  int number = 0;  // 0: no attempt was made yet
  std::string run;
  int before = 0;  // attempts before the run's first
};

Newest newest_attempt(const std::filesystem::path& output) {
  const std::filesystem::path path = output / "attempt";
  if (!std::filesystem::exists(path)) return {};
  std::ifstream in(path);
  Newest newest;
  if (!(in >> newest.number) || newest.number < 1) {
    fail(
        "{}: doesn't hold the number of the run's newest attempt; remove the file if no other process "
        "writes to this folder",
        path.string());
  }
  in >> newest.run >> newest.before;
  return newest;
}

[[noreturn]] void fail_superseded(const std::filesystem::path& output, int ours, int newest) {
  fail(
      "{}: attempt {} of this run was superseded by attempt {}, which now writes to this folder; choose "
      "another output folder to run both",
      output.string(), ours, newest);
}

}  // namespace

int claim_attempt(const std::filesystem::path& output, int number, const std::string& run) {
  const Newest newest = newest_attempt(output);
  std::string whose;
  if (!run.empty()) {
    const int before = run == newest.run ? newest.before : newest.number;
    number += before;
    whose = fmt::format(" {} {}", run, before);
  } else if (number == 0) {
    number = newest.number + 1;
  } else if (number == newest.number) {
    return number;
  }
  if (number < newest.number) fail_superseded(output, number, newest.number);
  write_file_atomically(output / "attempt", fmt::format("{}{}\n", number, whose));
  return number;
}

void check_attempt(const std::filesystem::path& output, int number) {
  const int newest = newest_attempt(output).number;
  if (newest == 0) {
    fail(
        "{}: is gone: the output folder was removed, emptied or moved while its run went on; start the run again",
        (output / "attempt").string());
  }
  if (newest > number) fail_superseded(output, number, newest);
}

}  // namespace atl
