#include "train/checkpoint/checkpoint_state.h"

#include <fmt/format.h>

#include <charconv>
#include <type_traits>
#include <utility>

#include "base/error.h"

namespace atl {
namespace {

constexpr const char* kFormatKey = "atoll.format";
constexpr const char* kFormat = "checkpoint 1";
constexpr const char* kDatasetKey = "dataset";  // key of the data set's checksum in an identity
const std::string kIdentityPrefix = "identity.";
const std::string kScalarPrefix = "scalar.";

/// The number in metadata `key`. The shortest decimal text of a double gives back the same bits. Whole
/// numbers are counts, and never negative.
template <class T>
T number(const SafetensorsFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  T value{};
  if (found != file.metadata().end()) {
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool allowed = std::is_floating_point_v<T> || value >= 0;
    if (error == std::errc() && end == text.data() + text.size() && allowed) return value;
  }
  fail("{}: this version can't read the checkpoint: {} is {}; use the version that wrote it",
       file.path().string(), key, found == file.metadata().end() ? "missing" : "'" + found->second + "'");
}

}  // namespace

std::string write_checkpoint_state(const std::filesystem::path& path, const CheckpointState& state) {
  Metadata metadata{{kFormatKey, kFormat},
                    {"epoch", fmt::to_string(state.reached.epochs)},
                    {"stepOfEpoch", fmt::to_string(state.reached.steps)},
                    {"step", fmt::to_string(state.step)},
                    {"seed", fmt::to_string(state.seed)},
                    {"ranks", fmt::to_string(state.ranks)}};
  for (const auto& [key, value] : state.identity) metadata[kIdentityPrefix + key] = value;
  for (const auto& [key, value] : state.scalars) metadata[kScalarPrefix + key] = fmt::to_string(value);
  return write_safetensors(path, state.tensors, metadata);
}

LoadedCheckpoint read_checkpoint_state(const std::filesystem::path& path) {
  return checkpoint_state_of(SafetensorsFile::read(path));
}

LoadedCheckpoint checkpoint_state_of(SafetensorsFile whole) {
  const std::filesystem::path path = whole.path();
  LoadedCheckpoint loaded{path.parent_path(), {}, std::move(whole)};
  const SafetensorsFile& file = loaded.file;
  const auto format = file.metadata().find(kFormatKey);
  if (format == file.metadata().end() || format->second != kFormat) {
    fail("{}: this version can't read the checkpoint: {} is not '{}'; use the version that wrote it",
         path.string(), kFormatKey, kFormat);
  }
  loaded.state.reached.epochs = number<Index>(file, "epoch");
  if (file.metadata().contains("stepOfEpoch"))
    loaded.state.reached.steps = number<Index>(file, "stepOfEpoch");
  loaded.state.step = number<std::int64_t>(file, "step");
  loaded.state.seed = number<std::uint64_t>(file, "seed");
  loaded.state.ranks = number<int>(file, "ranks");
  for (const auto& [key, value] : file.metadata()) {
    if (key.starts_with(kIdentityPrefix)) loaded.state.identity[key.substr(kIdentityPrefix.size())] = value;
    if (key.starts_with(kScalarPrefix))
      loaded.state.scalars[key.substr(kScalarPrefix.size())] = number<double>(file, key);
  }
  loaded.state.tensors = file.tensors();
  return loaded;
}

void check_identity(const LoadedCheckpoint& checkpoint, const Identity& expected) {
  std::string differences;
  const auto differ = [&](const std::string& key, const std::string& theirs, const std::string& ours) {
    if (!differences.empty()) differences += "; ";
    constexpr std::size_t kShown = 12;  // digits of a checksum that are shown
    differences += key == kDatasetKey ? fmt::format("it was trained on other data (checksum {}…, now {}…)",
                                                    theirs.substr(0, kShown), ours.substr(0, kShown))
                                      : fmt::format("{} was {}, is now {}", key, theirs, ours);
  };
  const Identity& found = checkpoint.state.identity;
  for (const auto& [key, ours] : expected) {
    const auto theirs = found.find(key);
    if (theirs == found.end())
      differ(key, "not stated", ours);
    else if (theirs->second != ours)
      differ(key, theirs->second, ours);
  }
  for (const auto& [key, theirs] : found)
    if (!expected.contains(key)) differ(key, theirs, "not stated");
  if (!differences.empty()) {
    fail(
        "{}: belongs to another run: {}; use that run's manifest and data, choose another folder with --output, or "
        "start over with --fresh",
        checkpoint.folder.empty() ? checkpoint.file.path().string() : checkpoint.folder.string(),
        differences);
  }
}

}  // namespace atl
