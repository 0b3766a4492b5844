#include "command/run/output_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/text.h"
#include "job/load.h"
#include "job/strategies.h"
#include "train/checkpoint/checkpoint.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// Writes the manifest. If that fails, nothing has been started over.
void write_manifest(const fs::path& output, const Job& job) {
  try {
    write_file_atomically(output / "job.yaml", write_job(job));
  } catch (const Error&) {
    bring_back(output);
    throw;
  }
}

}  // namespace

void check_resumable(const fs::path& output, const Job& job, const OutputOptions& options) {
  if (const std::string name = file_of_no_run(output); !name.empty())
    fail(
        "{0}: holds {1}, which no run wrote, and a run would replace it: choose another folder with --output, or move {1}",
        output.string(), name);
  const bool resumes = has_checkpoint(output);
  if (options.resume && !resumes)
    fail("--resume: {} holds no checkpoint to resume from (leave --resume out)", output.string());
  if (options.fresh || !resumes || !fs::exists(output / "job.yaml")) return;
  const auto changes = changes_that_forbid_resuming(load_job(output / "job.yaml").job, job);
  if (changes.empty()) return;
  fail(
      "{} holds a run of another manifest ({}): start over with --fresh, or choose another folder with "
      "--output",
      output.string(), fmt::format("{}{}", changes[0], changes.size() > 1 ? ", …" : ""));
}

void say_other_division(const fs::path& output, const Job& job, const OutputOptions& options, Say say) {
  const StrategyInfo& strategy = *job.strategy.row;
  if (options.fresh || !has_checkpoint(output) || !fs::exists(output / "job.yaml")) return;
  const Job until_now = load_job(output / "job.yaml").job;
  const JobDivision before = strategy.division(until_now), now = strategy.division(job);
  if (before.slices != now.slices)
    say(fmt::format("warning: {0} is {1} on {2}, and this run has had {3} until now (give {3} to keep it)",
                    now.slices_field, now.slices, counted_text(job.placement.ranks, "rank"), before.slices));
  if (before.servers != now.servers)
    say(fmt::format(
        "warning: the graph is divided over {}, and this run has had {} until now: from here other neighbours are left out than "
        "before, where any are (give placement.ranks {} and placement.ranksPerServer {} to keep it)",
        counted_text(now.servers, "server"), before.servers, until_now.placement.ranks,
        until_now.placement.ranks / before.servers));
}

void make_output_folder(const fs::path& output) {
  std::error_code error;
  fs::create_directories(output, error);
  if (error || !fs::is_directory(output)) {
    fail("{}: can't be the output folder: {} (choose another with --output)", output.string(),
         error ? error.message() : "it is a file");
  }
  if (fs::exists(output / "meta.json") && fs::exists(output / "offsets.npy"))
    fail(
        "{}: is a data set, and importing it again would remove what is written there (choose another folder with --output)",
        output.string());
}

int make_output(const fs::path& output, const Job& job, const OutputOptions& options) {
  make_output_folder(output);
  // From here on, an earlier attempt that still runs somewhere can't commit any more.
  const int attempt = claim_attempt(output, options.attempt, options.run);
  if (options.fresh) set_aside(output);
  write_manifest(output, job);
  return attempt;
}

namespace {

namespace fs = std::filesystem;

fs::path lock_in(const fs::path& output) {
  return output / "lock";
}

/// The process that holds a folder, from the one line of its lock file: "HOST PID SINCE BOOT".
struct Holder {
  std::string host, pid, since;
  std::string boot;  // the host's boot id: only that kernel knows its locks
  std::string text() const { return fmt::format("process {} on {}, since {}", pid, host, since); }
};

std::string utc_now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

Holder this_process() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  Holder holder{host.data(), std::to_string(getpid()), utc_now(), "-"};
  std::ifstream("/proc/sys/kernel/random/boot_id") >> holder.boot;
  return holder;
}

/// Reads the holder. It has no host if the file names no process, which was killed, or lost power, before it
/// had written.
Holder holder_in(const Descriptor& file) {
  std::array<char, 512> text{};
  const auto size = std::max<ssize_t>(0, ::pread(file.get(), text.data(), text.size(), 0));
  std::istringstream words(std::string(text.data(), std::size_t(size)));
  Holder holder;
  return words >> holder.host >> holder.pid >> holder.since >> holder.boot ? holder : Holder{};
}

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  fail("{}: cannot be written: {} ({})", path.string(), std::strerror(error), write_remedy(error));
}

[[noreturn]] void fail_to_lock(const fs::path& output, const Descriptor& file, int error) {
  if (error != EWOULDBLOCK)
    fail("{}: cannot be locked: {}; choose a folder on another file system with --output",
         lock_in(output).string(), std::strerror(error));
  const Holder holder = holder_in(file);
  fail(
      "{}: another process writes to this folder{}; wait for its end, stop it, or choose another folder with --output",
      output.string(), holder.host.empty() ? "" : ": " + holder.text());
}

/// Opens or makes the lock file, and locks it.
Descriptor locked_file(const fs::path& output) {
  const fs::path path = lock_in(output);
  for (;;) {
    make_output_folder(output);
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (file.get() < 0 && errno == ENOENT) continue;  // another process ended and removed the folder
    if (file.get() < 0) fail_to_write(path, errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) fail_to_lock(output, file, errno);
    if (still_named(file.get(), path)) return file;  // if not, its holder has just removed it
  }
}

/// Judges the earlier holder. We hold the file's lock, so the process that the file names has ended, unless
/// another machine's kernel keeps locks on this file system to itself.
void judge(const Holder& before, const fs::path& output, void (*say)(const std::string& line)) {
  if (before.host.empty()) return;
  const Holder ours = this_process();
  if (before.boot != ours.boot && before.host != ours.host)
    fail(
        "{}: another process has this folder: {}; {} can't see whether it still runs: if it doesn't, remove {}",
        output.string(), before.text(), ours.host, lock_in(output).string());
  say(fmt::format("{}: {}, ended without giving this folder back: its lock is removed", output.string(),
                  before.text()));
}

fs::path outermost_absent(fs::path folder) {
  fs::path absent;
  for (; !folder.empty() && !fs::exists(folder); folder = folder.parent_path()) absent = folder;
  return absent;
}

}  // namespace

OutputLock::OutputLock(const fs::path& output, void (*say)(const std::string& line))
    : OutputLock(output, say, StopsTaken{}) {}

OutputLock::OutputLock(const fs::path& output, void (*say)(const std::string& line), const StopsTaken&)
    : output_(output),
      made_(outermost_absent(output)),
      file_(locked_file(output)),
      at_stop_([this] { give_back(); }) {
  judge(holder_in(file_), output_, say);
  enter();
}

void OutputLock::enter() const {
  const Holder ours = this_process();
  const std::string line = fmt::format("{} {} {} {}\n", ours.host, ours.pid, ours.since, ours.boot);
  if (::ftruncate(file_.get(), 0) == 0 &&
      ::pwrite(file_.get(), line.data(), line.size(), 0) == ssize_t(line.size()))
    return;
  const int error = errno;
  ::unlink(lock_in(output_).c_str());
  fail_to_write(lock_in(output_), error);
}

OutputLock::~OutputLock() {
  give_back();
}

void OutputLock::give_back() const {
  if (still_named(file_.get(), lock_in(output_))) ::unlink(lock_in(output_).c_str());
  if (made_.empty()) return;
  std::error_code in_use;  // a folder that isn't empty stays
  for (fs::path folder = output_; fs::remove(folder, in_use) && folder != made_;)
    folder = folder.parent_path();
}

}  // namespace atl
