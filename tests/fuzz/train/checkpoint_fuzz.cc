// Any bytes as a checkpoint's state.safetensors: either a state, which must survive being written and read
// again, or an Error.
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "train/best.h"
#include "train/checkpoint/checkpoint_state.h"

namespace {

namespace fs = std::filesystem;

atl::LoadedCheckpoint parsed(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  return atl::checkpoint_state_of(atl::SafetensorsFile::parse({bytes, bytes + size}, "fuzz"));
}

/// NaN is what it was, too.
bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

/// What resuming takes of it: no count is negative, and an epoch's sums are read back as they were written.
bool is_sound(const atl::CheckpointState& state) {
  atl::Best best{{}};
  best.load(state.scalars);
  atl::EpochSoFar epoch, again;
  epoch.load(state.scalars);
  std::map<std::string, double> saved;
  epoch.save(saved);
  again.load(saved);
  return state.reached.epochs >= 0 && state.reached.steps >= 0 && state.step >= 0 && best.epoch() >= 0 &&
         epoch.bytes_intra >= 0 && epoch.bytes_inter >= 0 && same(again.loss, epoch.loss);
}

bool equal(const atl::CheckpointState& a, const atl::CheckpointState& b) {
  if (a.reached != b.reached || a.step != b.step || a.seed != b.seed || a.ranks != b.ranks ||
      a.identity != b.identity || a.tensors.size() != b.tensors.size() ||
      a.scalars.size() != b.scalars.size())
    return false;
  for (const auto& [name, value] : a.scalars)
    if (!b.scalars.contains(name) || !same(value, b.scalars.at(name))) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path folder = fs::temp_directory_path() / ("atoll-fuzz-" + std::to_string(::getpid()));
  try {
    const atl::LoadedCheckpoint loaded = parsed(data, size);
    if (!is_sound(loaded.state)) std::abort();
    write_checkpoint_state(folder / "state.safetensors", loaded.state);
    if (!equal(atl::read_checkpoint_state(folder / "state.safetensors").state, loaded.state)) std::abort();
  } catch (const atl::Error&) {
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return 0;
}
