#include "train/attempt.h"

#include <fstream>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"

namespace atl {
namespace {

/// 0 where no attempt was made yet.
int newest_attempt(const std::filesystem::path& output) {
  const std::filesystem::path path = output / "attempt";
  if (!std::filesystem::exists(path)) return 0;
  std::ifstream in(path);
  int number = 0;
  if (!(in >> number) || number < 1) {
    fail(
        "{}: should hold the number of the run's newest attempt and doesn't; remove it if no other process writes to "
        "this folder",
        path.string());
  }
  return number;
}

[[noreturn]] void fail_superseded(const std::filesystem::path& output, int ours, int newest) {
  fail(
      "{}: attempt {} of this run was superseded by attempt {}, which writes to this folder now; choose another output "
      "folder to run both",
      output.string(), ours, newest);
}

}  // namespace

int claim_attempt(const std::filesystem::path& output, int number) {
  const int newest = newest_attempt(output);
  if (number == 0) number = newest + 1;
  if (number < newest) fail_superseded(output, number, newest);
  write_file_atomically(output / "attempt", std::to_string(number) + "\n");
  return number;
}

void check_attempt(const std::filesystem::path& output, int number) {
  const int newest = newest_attempt(output);
  if (newest > number) fail_superseded(output, number, newest);
}

}  // namespace atl
