// atoll dataset fetch: downloads a file and checks that it is the expected one. The file is the source of an
// import.
#include <fmt/format.h>
#include <unistd.h>
#include <chrono>
#include <cstdio>

#include "base/text.h"
#include "command/commands.h"
#include "command/job_data.h"
#include "dataset/catalogue/fetch.h"
#include "dataset/dataset.h"

namespace atl {
namespace {

/// Shows on standard error how far a download is. On a terminal it rewrites one line. Otherwise it adds a
/// line for every tenth of the file, or for every 64 MiB if the server doesn't tell the size.
class DownloadLines {
 public:
  ~DownloadLines() { end(); }

  void say(Index done, Index total) {
    if (done == 0) return;
    if (terminal_) {
      rewrite(done, total);
      return;
    }
    const Index step = total > 0 ? done * 10 / total : done >> 26;
    if (step == last_step_) return;
    last_step_ = step;
    std::fprintf(stderr, "%s\n", text(done, total).c_str());
  }

  /// Ends the line, so that other output begins a new one.
  void end() {
    if (open_) std::fputc('\n', stderr);
    open_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static std::string text(Index done, Index total) {
    if (total <= 0) return bytes_text(double(done));
    return fmt::format("{} of {} ({})", bytes_text(double(done)), bytes_text(double(total)),
                       percent_text(double(done) / double(total)));
  }

  void rewrite(Index done, Index total) {
    const auto now = Clock::now();
    if (now - shown_ < std::chrono::milliseconds(100) && done != total) return;
    shown_ = now;
    open_ = true;
    std::fprintf(stderr, "\r\033[K%s", text(done, total).c_str());
  }

  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool open_ = false;
  Index last_step_ = -1;
  Clock::time_point shown_{};
};

int download(const Arguments& a) {
  DownloadLines lines;
  FetchProgress progress;
  if (!a.has("--quiet")) progress = [&](Index done, Index total) { lines.say(done, total); };
  const auto file = fetch(a.get("URL"), a.get("--sha256"), a.get("DST", "."), progress, a.get("--netrc"));
  lines.end();
  std::printf("%s\n", file.c_str());
  return 0;
}

}  // namespace

Command dataset_fetch_command() {
  return {"dataset fetch",
          "download a file and check its SHA-256; a partial download is continued",
          {{"URL", "", "http://, https:// or file:// URL", true},
           {"DST", "",
            "file to write; or a folder (that exists, or ends in /), which keeps the URL's file name (.)"},
           {"--sha256", "HEX", "SHA-256 of the file, 64 hex digits", true},
           {"--netrc", "FILE", "file of passwords: machine HOST login USER password WORD"},
           {"--quiet", "", "no progress"}},
          download};
}

// atoll dataset verify: reads every file and compares its checksum.

namespace {

int verify(const Arguments& arguments) {
  const Dataset dataset = Dataset::open(stored_dataset(arguments.get("DATASET")));
  dataset.verify();
  std::printf("%s: every file matches its checksum\n", dataset.folder().c_str());
  return 0;
}

}  // namespace

Command dataset_verify_command() {
  return {"dataset verify",
          "check every file against its checksum",
          {{"DATASET", "", "folder of the data set, or its name under the data root", true}},
          verify};
}

}  // namespace atl
