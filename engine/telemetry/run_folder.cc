#include "telemetry/run_folder.h"

#include <fmt/format.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/atomic_file.h"
#include "base/error.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMetricsFile = "metrics.jsonl";
constexpr const char* kRunFile = "run.json";
constexpr const char* kResultFile = "result.json";

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class RunFolderWriter : public RunObserver {
 public:
  explicit RunFolderWriter(const fs::path& folder) : folder_(folder) {}

  void on_start(const RunRecord& run) override {
    std::string kept;
    for (const EpochRecord& epoch : run.epochs) kept += epoch_line(epoch) + "\n";
    const fs::path path = folder_ / kMetricsFile;
    write_file_atomically(path, kept);
    metrics_.reset(std::fopen(path.c_str(), "a"));
    if (metrics_ == nullptr) fail_to_append();
    // Unbuffered, so that each line is one write and readers of the growing file see whole lines.
    std::setvbuf(metrics_.get(), nullptr, _IONBF, 0);
    write_file_atomically(folder_ / kRunFile, run_document(run));
  }

  void on_epoch(const EpochRecord& epoch) override {
    check_still_there();
    const std::string line = epoch_line(epoch) + "\n";
    if (std::fwrite(line.data(), 1, line.size(), metrics_.get()) != line.size()) fail_to_append();
  }

  /// Flushes the lines before a checkpoint is written. A loss of power may leave anything in the place of
  /// lines that weren't flushed. A run that goes on from the checkpoint keeps the lines up to its epoch, and
  /// drops later ones.
  void before_checkpoint() override {
    const bool flushed = ::fdatasync(::fileno(metrics_.get())) == 0;
    if (!flushed && errno != EINVAL && errno != EROFS) fail_to_append();  // these: nothing to flush
  }

  void on_result(const RunRecord& run) override {
    if (metrics_ == nullptr) return;  // nothing has started: this start repeats a run that was over before
    write_file_atomically(folder_ / kRunFile, run_document(run));
    write_file_atomically(folder_ / kResultFile, result_summary(run) + "\n");
  }

 private:
  /// Fails where the file was removed, since lines that are appended to it then couldn't be read.
  void check_still_there() const {
    const fs::path path = folder_ / kMetricsFile;
    if (still_named(::fileno(metrics_.get()), path)) return;
    fail(
        "{}: is gone: the output folder was removed, emptied or moved while its run went on; start the run again",
        path.string());
  }

  [[noreturn]] void fail_to_append() const {
    fail("{}: cannot be written: {}; free space there or choose another output folder",
         (folder_ / kMetricsFile).string(), std::strerror(errno));
  }

  fs::path folder_;
  std::unique_ptr<std::FILE, CloseFile> metrics_;
};

}  // namespace

std::unique_ptr<RunObserver> make_run_folder_writer(const fs::path& folder) {
  return std::make_unique<RunFolderWriter>(folder);
}

std::vector<EpochRecord> read_epochs(const fs::path& folder, Index last) {
  const fs::path path = folder / kMetricsFile;
  std::vector<EpochRecord> epochs;
  std::ifstream in(path);
  std::string line;
  for (Index number = 1; std::getline(in, line); ++number) {
    if (in.eof()) break;  // no newline: a kill cut the line short
    try {
      epochs.push_back(parse_epoch_line(line));
    } catch (const Error& error) {
      fail("{}:{}: is not an epoch's record: {}; remove the line, or restore the file from a copy",
           path.string(), number, error.what());
    }
    if (epochs.back().epoch < last) continue;
    if (epochs.back().epoch > last) epochs.pop_back();
    break;
  }
  return epochs;
}

RunRecord read_run(const fs::path& folder) {
  const fs::path path = folder / kRunFile;
  std::ifstream in(path);
  if (!in)
    fail("{}: is not the output folder of a run ({} does not exist); give a run's output folder",
         folder.string(), kRunFile);
  RunRecord run;
  try {
    run = parse_run_document({std::istreambuf_iterator<char>(in), {}});
  } catch (const Error& error) {
    fail("{}: is not the record of a run: {}; restore the file from a copy", path.string(), error.what());
  }
  run.epochs = read_epochs(folder, std::numeric_limits<Index>::max());
  return run;
}

namespace {

class JsonEvents : public RunObserver {
 public:
  JsonEvents(std::FILE* out, std::FILE* err) : out_(out), err_(err) {}

  void on_epoch(const EpochRecord& epoch) override { write(epoch_event(epoch)); }
  void on_result(const RunRecord& run) override { write(result_event(run)); }
  void on_message(MessageLevel level, const std::string& text) override {
    fmt::print(err_, "{}{}\n", level == MessageLevel::kWarning ? "atoll: warning: " : "", text);
  }

 private:
  void write(const std::string& line) {
    fmt::print(out_, "{}\n", line);
    std::fflush(out_);
  }

  std::FILE* out_;
  std::FILE* err_;
};

}  // namespace

std::unique_ptr<RunObserver> make_json_events(std::FILE* out, std::FILE* err) {
  return std::make_unique<JsonEvents>(out, err);
}

}  // namespace atl
