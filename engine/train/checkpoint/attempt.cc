// Numbers the attempts at a run, and sets aside the run before where one starts over.
#include "train/checkpoint/checkpoint.h"

#include <array>
#include <fstream>
#include <string>

#include "base/atomic_file.h"
#include "base/error.h"
#include "train/predictions.h"

namespace atl {
namespace {

/// "4 a1b2 3": the folder's fourth attempt, which is the first of run a1b2; "4" where runs don't number their
/// attempts.
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

namespace {

namespace fs = std::filesystem;

/// Files that are written again before a new run's first checkpoint.
constexpr std::array kStory{"job.yaml", "metrics.jsonl", "run.json"};
/// Files that are written at a run's end, beside predictions.
constexpr std::array kResults{"result.json", "model.safetensors", "report.html"};

fs::path aside(const fs::path& output) {
  return output / "replaced";
}

fs::path checkpoints(const fs::path& folder) {
  return folder / "checkpoints";
}

void drop_set_aside(const fs::path& output) {
  fs::remove_all(aside(output));
}

/// Moves the checkpoints last, so that a call after a kill does everything again.
void move_back(const fs::path& output) {
  // A rank of the new run that is still alive on another machine can't commit any more.
  claim_attempt(output);
  fs::remove_all(checkpoints(output));  // half-written ones
  for (const char* name : kStory)
    if (fs::exists(aside(output) / name)) fs::rename(aside(output) / name, output / name);
  fs::rename(checkpoints(aside(output)), checkpoints(output));
}

}  // namespace

std::string file_of_no_run(const fs::path& output) {
  for (const char* sign : {"attempt", "run.json", "checkpoints", "replaced"})
    if (fs::exists(output / sign)) return {};
  if (fs::exists(output / "job.yaml")) return "job.yaml";
  for (const char* name : kResults)
    if (fs::exists(output / name)) return name;
  return {};  // metrics.jsonl doesn't count: a run may have written it after its folder was emptied
}

void set_aside(const fs::path& output) {
  if (!has_checkpoint(output)) return;
  try {
    drop_set_aside(output);
    fs::create_directory(aside(output));
    for (const char* name : kStory)
      if (fs::exists(output / name)) fs::copy_file(output / name, aside(output) / name);
    fs::rename(checkpoints(output), checkpoints(aside(output)));  // from here on the run before is set aside
  } catch (const fs::filesystem_error& error) {
    std::error_code ignored;
    fs::remove_all(aside(output), ignored);
    fail("{}: the run before can't be set aside: {}; free space there or choose another folder with --output",
         error.path1().string(), error.code().message());
  }
}

void drop_run_before(const fs::path& output) {
  for (const char* name : kResults) fs::remove(output / name);
  remove_predictions(output);
  drop_set_aside(output);
}

bool bring_back(const fs::path& output) {
  const bool is_aside = fs::exists(checkpoints(aside(output)));
  const bool waits = is_aside && !has_checkpoint(output);
  try {
    if (waits) move_back(output);
    if (is_aside && !waits) drop_run_before(output);
    drop_set_aside(output);
  } catch (const fs::filesystem_error& error) {
    fail("{}: the run before can't be brought back: {}; its checkpoints lie in {}", error.path1().string(),
         error.code().message(), aside(output).string());
  }
  return waits;
}

}  // namespace atl
