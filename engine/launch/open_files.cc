#include "launch/open_files.h"

#include <sys/resource.h>

#include <algorithm>

#include "base/error.h"

namespace atl {
namespace {

constexpr rlim_t kPlenty = 65536;  // and no more: some programs look at every number below the limit

rlimit limits() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  return files;
}

}  // namespace

long open_file_limit() {
  return long(std::min<rlim_t>(limits().rlim_cur, kPlenty));
}

void allow_open_files(int ranks) {
  rlimit files = limits();
  files.rlim_cur = std::max(files.rlim_cur, std::min(files.rlim_max, kPlenty));
  setrlimit(RLIMIT_NOFILE, &files);
  const long needed = open_files_of(ranks), allowed = open_file_limit();
  if (std::min<long>(needed, long(kPlenty)) > allowed)
    fail(
        "at most {} files may be open here, and mpirun needs about {} for {} ranks: raise the hard limit (ulimit -Hn), or use "
        "fewer ranks",
        allowed, needed, ranks);
}

}  // namespace atl
