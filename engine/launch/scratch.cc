#include "launch/scratch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlaces[] = {"/dev/shm", "/tmp"};
constexpr std::string_view kPrefix = "atoll-launch-";

/// A lock of the folder that nobody else holds; no descriptor (-1) where somebody does, or the folder is gone.
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

Scratch::Scratch() {
  for (const fs::path place : kPlaces) {
    remove_left_behind(place);
    // Somebody who looks for what was left behind may be faster than our lock: another name then.
    for (int tries = 0; tries < 100; ++tries) {
      std::string path = (place / (std::string(kPrefix) + "XXXXXX")).string();
      if (mkdtemp(path.data()) == nullptr) break;
      lock_ = try_lock(path);
      path_ = path;
      if (lock_.get() >= 0) return;
    }
  }
  fail("{}: no folder can be made in it: {}", kPlaces[1], std::strerror(errno));
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace atl
