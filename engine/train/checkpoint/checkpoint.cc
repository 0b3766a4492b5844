#include "train/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <exception>
#include <fstream>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr const char* kStateFile = "state.safetensors";
constexpr const char* kCompleteFile = "COMPLETE";
constexpr std::string_view kPrefix = "epoch-", kSteps = ".step-";

std::string part_file(int part) {
  return fmt::format("part-{}.safetensors", part);
}

std::string name_of(const Reached& at) {
  const std::string epoch = fmt::format("{}{:06}", kPrefix, at.epochs);
  return at.steps == 0 ? epoch : fmt::format("{}{}{:06}", epoch, kSteps, at.steps);
}

std::optional<Index> whole_number(std::string_view text) {
  Index number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// How far the checkpoint in a folder has come, by the folder's name; none where it isn't a checkpoint's.
std::optional<Reached> reached_by(const fs::path& folder) {
  const std::string file = folder.filename().string();
  std::string_view name = file;
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::size_t dot = name.find(kSteps);
  const auto epochs = whole_number(name.substr(0, dot));
  const auto steps = dot == std::string_view::npos ? std::optional<Index>(0)
                                                   : whole_number(name.substr(dot + kSteps.size()));
  return epochs && steps ? std::optional(Reached{*epochs, *steps}) : std::nullopt;
}

/// All checkpoints in `folder`, complete or not, newest first.
std::vector<Reached> checkpoints_in(const fs::path& folder) {
  std::vector<Reached> all;
  if (!fs::exists(folder)) return all;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const auto reached = reached_by(entry.path())) all.push_back(*reached);
  std::ranges::sort(all, std::greater());
  return all;
}

/// Makes the names in `folder` survive a loss of power, where the file system can.
void flush_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) fail("{}: cannot be opened: {}", folder.string(), std::strerror(errno));
  ::fsync(file);
  ::close(file);
}

/// The content of COMPLETE: file → seal. Throws Error where it is missing or damaged.
Metadata read_complete(const fs::path& folder) {
  const fs::path path = folder / kCompleteFile;
  std::ifstream in(path);
  if (!in) fail("{}: does not exist, so the checkpoint was never finished", path.string());
  try {
    return parse_json(in).at("files").get<Metadata>();
  } catch (const Json::exception&) {
    fail("{}: damaged", path.string());
  }
}

/// Reads all files of a checkpoint and checks their seals. Throws Error where a file is missing, torn or
/// altered.
LoadedCheckpoint load_whole(const fs::path& folder, const Reached& at, FunctionRef<void()> goes_on) {
  LoadedCheckpoint loaded = read_checkpoint_state(folder / kStateFile);
  for (const auto& [name, seal] : read_complete(folder)) {
    const std::string found =
        name == kStateFile ? loaded.file.seal() : SafetensorsFile::read(folder / name).seal();
    if (found != seal) fail("{}: has changed since the checkpoint was finished", (folder / name).string());
    goes_on();
  }
  if (loaded.state.reached != at)
    fail("{}: holds {}, which differs from its name", folder.string(), reached_text(loaded.state.reached));
  return loaded;
}

}  // namespace

bool has_checkpoint(const fs::path& output) {
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(output / "checkpoints", absent))
    if (reached_by(entry.path()) && fs::exists(entry.path() / kCompleteFile)) return true;
  return false;
}

CheckpointStore::CheckpointStore(fs::path output, int attempt, int keep)
    : output_(std::move(output)), folder_(output_ / "checkpoints"), attempt_(attempt), keep_(keep) {
  ATOLL_CHECK(keep_ >= 1, "keep {}", keep_);
}

fs::path CheckpointStore::place(const Reached& at) const {
  return folder_ / name_of(at);
}

fs::path CheckpointStore::partial(const Reached& at) const {
  return folder_ / fmt::format(".{}.attempt-{}", name_of(at), attempt_);
}

std::string CheckpointStore::write_part_state(const Reached& at, int part,
                                              std::span<const TensorView> tensors,
                                              const std::string& parts) const {
  return write_safetensors(partial(at) / part_file(part), tensors,
                           {{"epoch", fmt::to_string(at.epochs)}, {"parts", parts}});
}

void CheckpointStore::commit(const CheckpointState& state, std::span<const std::string> part_seals) const {
  ATOLL_CHECK(part_seals.empty() || Index(part_seals.size()) == Index(state.ranks), "{} seals of {} parts",
              part_seals.size(), state.ranks);
  const fs::path folder = partial(state.reached);
  try {
    check_attempt(output_, attempt_);
    try {
      write_and_show(state, part_seals);
    } catch (const std::exception&) {
      check_attempt(output_, attempt_);  // says so where the output folder is gone
      // If somebody has just removed the folder of checkpoints, it is made again. But states that ranks wrote
      // by themselves are lost with the folder, so the commit fails if there are any.
      if (fs::exists(folder) || !part_seals.empty()) throw;
      write_and_show(state, part_seals);
    }
  } catch (...) {
    remove_traces(folder);
    throw;
  }
  drop_superseded(state.reached);
}

/// Removes a checkpoint that wasn't completed. If somebody removed the output folder meanwhile, writing has
/// made it again, and it is removed, too.
void CheckpointStore::remove_traces(const fs::path& partial) const {
  std::error_code ignored;
  fs::remove_all(partial, ignored);
  if (fs::exists(output_ / "attempt", ignored)) return;
  for (const fs::path& made : {folder_, output_}) fs::remove(made, ignored);  // only where it is empty
}

void CheckpointStore::write_and_show(const CheckpointState& state,
                                     std::span<const std::string> part_seals) const {
  const fs::path folder = partial(state.reached);
  Metadata seals{{kStateFile, write_checkpoint_state(folder / kStateFile, state)}};
  for (std::size_t part = 0; part < part_seals.size(); ++part) seals[part_file(int(part))] = part_seals[part];
  const Json complete = {{"epoch", state.reached.epochs}, {"attempt", attempt_}, {"files", seals}};
  write_file_atomically(folder / kCompleteFile, complete.dump(2) + "\n");
  check_attempt(output_, attempt_);
  make_visible(state.reached);
}

/// Gives a finished checkpoint its name. An older checkpoint may have that name: it was found damaged, or the
/// run was resumed from an earlier one. It is moved aside first, so that the name never holds half of each.
void CheckpointStore::make_visible(const Reached& at) const {
  const fs::path folder = partial(at), target = place(at);
  const fs::path replaced = folder_ / fmt::format(".{}.replaced", name_of(at));
  flush_folder(folder);
  if (fs::exists(target)) fs::rename(target, replaced);
  fs::rename(folder, target);
  flush_folder(folder_);
  fs::remove_all(replaced);
}

/// Keeps the `keep_` newest up to `newest`. Removes later ones too: the run was resumed from before them and
/// takes another course.
void CheckpointStore::drop_superseded(const Reached& newest) const {
  int kept = 0;
  for (const Reached& at : checkpoints_in(folder_)) {
    const bool complete = fs::exists(place(at) / kCompleteFile);
    if (at > newest || !complete || ++kept > keep_) fs::remove_all(place(at));
  }
}

std::optional<LoadedCheckpoint> CheckpointStore::newest(std::vector<std::string>& warnings,
                                                        FunctionRef<void()> goes_on) const {
  std::vector<std::string> damages;
  for (const Reached& at : checkpoints_in(folder_)) {
    try {
      LoadedCheckpoint whole = load_whole(place(at), at, goes_on);
      for (const std::string& damage : damages)
        warnings.push_back(fmt::format("{}: the checkpoint of {} is used", damage, reached_text(at)));
      return whole;
    } catch (const Error& error) {
      damages.emplace_back(error.what());
    }
  }
  if (damages.empty()) return std::nullopt;
  fail("{}: no checkpoint is whole: {}; put a copy there, or start over: remove that folder, or use --fresh",
       folder_.string(), joined(damages, "; "));
}

std::optional<SafetensorsFile> CheckpointStore::read_part_state(const Reached& at, int part) const {
  const fs::path path = place(at) / part_file(part);
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
