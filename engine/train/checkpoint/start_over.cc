#include "train/checkpoint/start_over.h"

#include <array>

#include "base/error.h"
#include "train/checkpoint/attempt.h"
#include "train/checkpoint/checkpoint.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// Of a run that isn't over these are rewritten before its first checkpoint; the other files are of its end.
constexpr std::array kStory{"job.yaml", "metrics.jsonl", "run.json"};

fs::path aside(const fs::path& output) {
  return output / "replaced";
}

fs::path checkpoints(const fs::path& folder) {
  return folder / "checkpoints";
}

/// The checkpoints last: until they are back, all of it is done again.
void move_back(const fs::path& output) {
  claim_attempt(output);  // a rank of the new run that still lives on another machine can't commit any more
  fs::remove_all(checkpoints(output));  // half-written ones
  for (const char* name : kStory)
    if (fs::exists(aside(output) / name)) fs::rename(aside(output) / name, output / name);
  fs::rename(checkpoints(aside(output)), checkpoints(output));
}

}  // namespace

void set_aside(const fs::path& output) {
  if (!has_checkpoint(output)) return;
  try {
    drop_set_aside(output);
    fs::create_directory(aside(output));
    for (const char* name : kStory)
      if (fs::exists(output / name)) fs::copy_file(output / name, aside(output) / name);
    fs::rename(checkpoints(output), checkpoints(aside(output)));  // from here on it counts
  } catch (const fs::filesystem_error& error) {
    std::error_code ignored;
    fs::remove_all(aside(output), ignored);
    fail("{}: the run before can't be set aside: {}; free space there or choose another folder with --output",
         error.path1().string(), error.code().message());
  }
}

void drop_set_aside(const fs::path& output) {
  fs::remove_all(aside(output));
}

bool bring_back(const fs::path& output) {
  const bool waits = fs::exists(checkpoints(aside(output))) && !has_checkpoint(output);
  try {
    if (waits) move_back(output);
    drop_set_aside(output);
  } catch (const fs::filesystem_error& error) {
    fail("{}: the run before can't be brought back: {}; its checkpoints lie in {}", error.path1().string(),
         error.code().message(), aside(output).string());
  }
  return waits;
}

}  // namespace atl
