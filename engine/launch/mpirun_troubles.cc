#include "launch/mpirun_troubles.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace atl {
namespace {

struct Trouble {
  const char *words, *meaning;  // that the box contains, its line breaks as spaces
};

constexpr std::array kTroubles = {
    Trouble{
        "unable to reliably start one or more daemons",
        "a host of --hosts can't be reached, or has no Open MPI: see that the command of --shell (ssh) runs `orted "
        "--version` on each of them without asking for a password"},
    Trouble{"that is not in your allocation",
            "mpirun doesn't know a host by the name that --hosts gives it: give its address"},
    Trouble{"could not access or execute an executable",
            "this program is not at the same place on every host: install it there where it is here"},
    Trouble{"unable to find the specified executable file",
            "this program is not at the same place on every host: install it there where it is here"},
    Trouble{"no longer able to be reached", "a host can't be reached any more: see to it and to the network"},
    Trouble{"unable to change to working directory",
            "this folder is not there on every host: start in one that all of them see"},
    Trouble{"system limit on number of pipes",
            "it found no pipe for them: raise the limit on open files (`ulimit -n`), or use fewer ranks"},
    Trouble{"not enough space for",
            "shared memory is full: free space in /dev/shm, or set TMPDIR to a folder with 16 MiB"},
    Trouble{"system limit exceeded on number of processes",
            "a host refuses more processes: use fewer ranks or threads, or raise `ulimit -u`"},
};

}  // namespace

std::string trouble_in(const std::string& box) {
  std::string words = box;
  std::ranges::replace(words, '\n', ' ');
  const auto known = std::ranges::find_if(
      kTroubles, [&](const Trouble& each) { return words.find(each.words) != std::string::npos; });
  return known == kTroubles.end() ? "" : known->meaning;
}

bool is_from_mpirun(const std::string& line) {
  if (line.starts_with("mpirun: ") || line.starts_with("ssh: ") || line.find("orted: ") != std::string::npos)
    return true;
  const auto colon = line.find(':'), bracket = line.find("] ");  // "[vm:25560] mpirun: SIGPIPE detected"
  if (!line.starts_with('[') || bracket == std::string::npos || colon + 1 >= bracket) return false;
  return std::all_of(line.begin() + std::ptrdiff_t(colon) + 1, line.begin() + std::ptrdiff_t(bracket),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace atl
