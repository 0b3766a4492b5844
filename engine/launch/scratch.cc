#include "launch/scratch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "atoll-launch-";

/// Open MPI gives each rank a segment of 4 MiB. It fills little of it, but wants that much to be free.
/// Measured: 2 and 8 ranks start with 16 MiB, 2 ranks don't with 12, and mpirun hangs with 1.
constexpr std::uintmax_t kRoom = std::uintmax_t(16) << 20;

std::vector<fs::path> usual_places() {
  std::vector<fs::path> places{"/dev/shm"};
  if (const char* own = std::getenv("TMPDIR"); own != nullptr && *own != '\0') places.emplace_back(own);
  places.emplace_back("/tmp");
  return places;
}

/// "" where the place has enough room.
std::string shortage(const fs::path& place) {
  std::error_code error;
  const fs::space_info space = fs::space(place, error);
  if (error) return fmt::format("{}: {}", place.string(), error.message());
  if (space.capacity == 0 || space.available >= kRoom) return "";  // no capacity: memory without a limit
  return fmt::format("{}: {:.1f} MiB are free of {:.1f}, and ranks share {} at least", place.string(),
                     double(space.available) / (1 << 20), double(space.capacity) / (1 << 20), kRoom >> 20);
}

/// Locks the folder. Returns no descriptor (-1) where another process holds the lock, or the folder is gone.
Descriptor try_lock(const fs::path& folder) {
  Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat named {};
  const bool ours = file.get() >= 0 && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
                    ::stat(folder.c_str(), &named) == 0 && named.st_uid == geteuid();
  return ours ? std::move(file) : Descriptor(-1);
}

void remove_left_behind(const fs::path& place) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(place, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    if (const Descriptor lock = try_lock(entry.path()); lock.get() >= 0)
      fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

Scratch::Scratch() : Scratch(usual_places()) {}

Scratch::Scratch(const std::vector<fs::path>& places) {
  std::string lacks;
  for (const fs::path& place : places) {
    remove_left_behind(place);
    std::string lack = shortage(place);
    // Another launcher that removes leftovers may be faster than our lock; then we try another name.
    for (int tries = 0; lack.empty() && tries < 100; ++tries) {
      std::string path = (place / (std::string(kPrefix) + "XXXXXX")).string();
      if (mkdtemp(path.data()) == nullptr) {
        lack = fmt::format("{}: no folder can be made in it: {}", place.string(), std::strerror(errno));
        break;
      }
      lock_ = try_lock(path);
      path_ = path;
      if (lock_.get() >= 0) return;
    }
    lacks += (lacks.empty() ? "" : "; ") + lack;
  }
  fail("{} (free space in one of them, or set TMPDIR to a folder that has it)", lacks);
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace atl
