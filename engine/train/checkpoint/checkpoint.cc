#include "train/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"
#include "train/checkpoint/attempt.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kStateFile = "state.safetensors";
constexpr const char* kCompleteFile = "COMPLETE";
constexpr std::string_view kPrefix = "epoch-";

std::string part_file(int part) {
  return fmt::format("part-{}.safetensors", part);
}

/// The epoch of a folder's name; none where it isn't a checkpoint's.
std::optional<Index> epoch_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  if (!name.starts_with(kPrefix)) return std::nullopt;
  Index epoch = 0;
  const auto [end, error] = std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), epoch);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(epoch) : std::nullopt;
}

/// Epochs of all checkpoints there, newest first, whole or not.
std::vector<Index> epochs_in(const fs::path& folder) {
  std::vector<Index> epochs;
  if (!fs::exists(folder)) return epochs;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto epoch = epoch_of(entry.path())) epochs.push_back(*epoch);
  std::sort(epochs.rbegin(), epochs.rend());
  return epochs;
}

/// Makes the names in `folder` survive a loss of power, where its file system can.
void flush_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) fail("{}: cannot be opened: {}", folder.string(), std::strerror(errno));
  ::fsync(file);
  ::close(file);
}

/// What COMPLETE says: file → seal. Throws Error where it is missing or damaged.
Metadata read_complete(const fs::path& folder) {
  const fs::path path = folder / kCompleteFile;
  std::ifstream in(path);
  if (!in) fail("{}: does not exist, so the checkpoint was never finished", path.string());
  try {
    return Json::parse(in).at("files").get<Metadata>();
  } catch (const Json::exception&) {
    fail("{}: damaged", path.string());
  }
}

/// Reads every file of a checkpoint and compares its seal. Throws Error where one is missing, torn or
/// altered.
LoadedCheckpoint load_whole(const fs::path& folder, Index epoch, FunctionRef<void()> goes_on) {
  LoadedCheckpoint loaded = read_checkpoint_state(folder / kStateFile);
  for (const auto& [name, seal] : read_complete(folder)) {
    const std::string found =
        name == kStateFile ? loaded.file.seal() : SafetensorsFile::read(folder / name).seal();
    if (found != seal) fail("{}: has changed since the checkpoint was finished", (folder / name).string());
    goes_on();
  }
  if (loaded.state.epoch != epoch)
    fail("{}: holds epoch {}, which differs from its name", folder.string(), loaded.state.epoch);
  return loaded;
}

}  // namespace

bool has_checkpoint(const fs::path& output) {
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(output / "checkpoints", absent))
    if (epoch_of(entry.path()) && fs::exists(entry.path() / kCompleteFile)) return true;
  return false;
}

CheckpointStore::CheckpointStore(fs::path output, int attempt, int keep)
    : output_(std::move(output)), folder_(output_ / "checkpoints"), attempt_(attempt), keep_(keep) {
  ATOLL_CHECK(keep_ >= 1, "keep {}", keep_);
}

fs::path CheckpointStore::place(Index epoch) const {
  return folder_ / fmt::format("{}{:06}", kPrefix, epoch);
}

fs::path CheckpointStore::partial(Index epoch) const {
  return folder_ / fmt::format(".{}{:06}.attempt-{}", kPrefix, epoch, attempt_);
}

std::string CheckpointStore::write_part_state(Index epoch, int part, std::span<const TensorView> tensors,
                                              const std::string& parts) const {
  return write_safetensors(partial(epoch) / part_file(part), tensors,
                           {{"epoch", fmt::to_string(epoch)}, {"parts", parts}});
}

void CheckpointStore::commit(const CheckpointState& state, std::span<const std::string> part_seals) const {
  check_attempt(output_, attempt_);
  const fs::path folder = partial(state.epoch);
  try {
    Metadata seals{{kStateFile, write_checkpoint_state(folder / kStateFile, state)}};
    ATOLL_CHECK(part_seals.empty() || Index(part_seals.size()) == Index(state.ranks), "{} seals of {} parts",
                part_seals.size(), state.ranks);
    for (std::size_t part = 0; part < part_seals.size(); ++part)
      seals[part_file(int(part))] = part_seals[part];
    const Json complete = {{"epoch", state.epoch}, {"attempt", attempt_}, {"files", seals}};
    write_file_atomically(folder / kCompleteFile, complete.dump(2) + "\n");
    check_attempt(output_, attempt_);
    make_visible(state.epoch);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    throw;
  }
  drop_superseded(state.epoch);
}

/// Only a checkpoint that was found damaged, or is written again after a resume from an earlier one, can be
/// in the way; it is moved aside first, so that no name ever holds half of each.
void CheckpointStore::make_visible(Index epoch) const {
  const fs::path folder = partial(epoch), target = place(epoch);
  const fs::path replaced = folder_ / fmt::format(".{}{:06}.replaced", kPrefix, epoch);
  flush_folder(folder);
  if (fs::exists(target)) fs::rename(target, replaced);
  fs::rename(folder, target);
  flush_folder(folder_);
  fs::remove_all(replaced);
}

/// Keeps the `keep_` newest up to `newest_epoch`; later ones belong to a past from which this run has
/// departed.
void CheckpointStore::drop_superseded(Index newest_epoch) const {
  int kept = 0;
  for (const Index epoch : epochs_in(folder_)) {
    const bool complete = fs::exists(place(epoch) / kCompleteFile);
    if (epoch > newest_epoch || !complete || ++kept > keep_) fs::remove_all(place(epoch));
  }
}

std::optional<LoadedCheckpoint> CheckpointStore::newest(std::vector<std::string>& warnings,
                                                        FunctionRef<void()> goes_on) const {
  std::vector<std::string> damages;
  for (const Index epoch : epochs_in(folder_)) {
    try {
      LoadedCheckpoint whole = load_whole(place(epoch), epoch, goes_on);
      for (const std::string& damage : damages)
        warnings.push_back(fmt::format("{}: the checkpoint of epoch {} is used", damage, epoch));
      return whole;
    } catch (const Error& error) {
      damages.emplace_back(error.what());
    }
  }
  if (damages.empty()) return std::nullopt;
  fail("{}: no checkpoint is whole: {}; put a copy there, or start over: remove that folder, or use --fresh",
       folder_.string(), fmt::join(damages, "; "));
}

std::optional<SafetensorsFile> CheckpointStore::read_part_state(Index epoch, int part) const {
  const fs::path path = place(epoch) / part_file(part);
  if (!fs::exists(path)) return std::nullopt;
  return SafetensorsFile::read(path);
}

void CheckpointStore::remove_partial() const {
  if (!fs::exists(folder_)) return;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.path().filename().string().starts_with("." + std::string(kPrefix)))
      fs::remove_all(entry.path());
}

}  // namespace atl
