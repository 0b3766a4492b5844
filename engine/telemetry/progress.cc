#include "telemetry/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "telemetry/confusion.h"
#include "telemetry/link_metrics.h"

namespace atl {
namespace {

using Clock = TimeLeft::Clock;

constexpr std::chrono::milliseconds kRedraw{100};  // drawing more often would cost more than a small epoch
constexpr std::chrono::seconds kLongestSilence{30};
constexpr Index kLinesPerRun = 20;

/// An epoch in words. What matters most comes first, because a narrow terminal cuts the end.
std::string epoch_text(const EpochRecord& epoch, Index epochs, std::optional<double> validation,
                       std::optional<double> seconds_left) {
  std::string text = fmt::format("epoch {:>{}}/{}  loss {:.4f}", epoch.epoch, std::to_string(epochs).size(),
                                 epochs, epoch.loss);
  if (validation) text += "  validation " + percent_text(*validation);
  text += "  " + duration_text(epoch.epoch_seconds) + "/epoch";
  const double bytes = double(epoch.bytes.intra + epoch.bytes.inter);
  if (bytes > 0) text += "  " + bytes_text(bytes) + "/epoch";
  if (seconds_left.value_or(0) >= 1) text += "  " + duration_text(*seconds_left) + " left";
  return text;
}

std::string step_text(const StepRecord& step, Index epochs, std::optional<double> validation,
                      std::optional<double> seconds_left) {
  std::string text =
      fmt::format("epoch {:>{}}/{}  step {:>{}}/{}  loss {:.4f}", step.epoch, std::to_string(epochs).size(),
                  epochs, step.step, std::to_string(step.steps).size(), step.steps, step.loss);
  if (validation) text += "  validation " + percent_text(*validation);
  if (seconds_left.value_or(0) >= 1) text += "  " + duration_text(*seconds_left) + " left";
  return text;
}

std::string bar(double done, Index epochs) {
  constexpr Index kCells = 20;
  const Index full = epochs == 0 ? kCells : std::min(kCells, Index(done * double(kCells) / double(epochs)));
  std::string text;
  for (Index cell = 0; cell < kCells; ++cell) text += cell < full ? "█" : "░";
  return text;
}

/// The first `columns` characters of UTF-8 text. All characters that we print are one column wide.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (begins && ++characters > columns) return text.substr(0, i);
  }
  return text;
}

std::size_t columns_of(std::FILE* out) {
  winsize size{};
  return ::ioctl(::fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string start_text(const RunRecord& run) {
  const RunSetting& s = run.setting;
  std::string text =
      fmt::format("{}: {} on {} ({} vertices, {} arcs), strategy {}, {}", s.name, s.model, s.dataset,
                  count_text(s.vertices), count_text(s.arcs), s.strategy, counted_text(s.ranks, "rank"));
  if (const Reached at{run.resumed_from, run.resumed_steps}; at > Reached{})
    text += ", resumed after " + reached_text(at);
  return text;
}

std::string result_text(const RunRecord& run) {
  std::string text = run.outcome;
  if (run.test)
    text += fmt::format(": test {} {}", metric_title(run.setting.metric), percent_text(*run.test));
  if (const std::string beside = beside_metric(run); run.test && !beside.empty()) text += " (" + beside + ")";
  if (run.links) text += fmt::format(" ({})", links_text(*run.links));
  if (run.validation)
    text += fmt::format(", validation {} (epoch {})", percent_text(*run.validation), run.best_epoch);
  if (run.epoch_seconds_median > 0)
    text += fmt::format("; {}/epoch, started in {}", duration_text(run.epoch_seconds_median),
                        duration_text(run.startup_seconds));
  else
    text += "; no epoch was trained to its end, started in " + duration_text(run.startup_seconds);
  if (!run.peak_memory_bytes.empty()) {
    const auto peak = *std::max_element(run.peak_memory_bytes.begin(), run.peak_memory_bytes.end());
    text += fmt::format(", at most {} of memory{}", bytes_text(double(peak)),
                        run.setting.ranks == 1 ? "" : " per rank");
  }
  return text + "\nresults in " + run.setting.output;
}

class Progress : public RunObserver {
 public:
  Progress(ProgressStyle style, std::FILE* out, std::FILE* err) : style_(style), out_(out), err_(err) {}

  void on_start(const RunRecord& run) override {
    epochs_ = run.setting.epochs;
    if (!run.epochs.empty()) validation_ = run.epochs.back().validation;
    shown_ = Clock::now();
    if (style_ != ProgressStyle::kQuiet) print(out_, start_text(run));
  }

  /// Shows a step, since an epoch of many steps may last for hours.
  void on_step(const StepRecord& step) override {
    const Clock::time_point now = Clock::now();
    const std::optional<double> left = time_left_.after(epochs_done(step), epochs_, now);
    const bool redrawn = style_ == ProgressStyle::kRedrawn;
    if (style_ == ProgressStyle::kQuiet || now - shown_ < (redrawn ? kRedraw : kLongestSilence)) return;
    shown_ = now;
    show(epochs_done(step), step_text(step, epochs_, validation_, left));
  }

  void on_epoch(const EpochRecord& epoch) override {
    const Clock::time_point now = Clock::now();
    if (epoch.validation) validation_ = epoch.validation;
    ++epochs_here_;
    const std::optional<double> left = time_left_.after(double(epoch.epoch), epochs_, now);
    if (style_ == ProgressStyle::kQuiet || !due(epoch.epoch, now)) return;
    shown_ = now;
    show(double(epoch.epoch), epoch_text(epoch, epochs_, validation_, left));
  }

  void on_result(const RunRecord& run) override {
    if (style_ == ProgressStyle::kQuiet) return;
    if (drawn_ && !run.epochs.empty())  // the last epoch may not have been due
      draw(bar(double(run.epochs.back().epoch), epochs_) + " " +
           epoch_text(run.epochs.back(), epochs_, validation_, {}));
    keep_drawn();
    print(out_, result_text(run));
  }

  void on_message(MessageLevel level, const std::string& text) override {
    if (level == MessageLevel::kWarning)
      print(err_, "atoll: warning: " + text);
    else if (style_ != ProgressStyle::kQuiet)
      print(out_, text);
  }

 private:
  void show(double done, const std::string& text) {
    if (style_ == ProgressStyle::kLines)
      print(out_, text);
    else
      draw(bar(done, epochs_) + " " + text);
  }

  bool due(Index epoch, Clock::time_point now) const {
    const bool edge = epochs_here_ == 1 || epoch == epochs_;
    if (style_ == ProgressStyle::kRedrawn) return edge || now - shown_ >= kRedraw;
    return edge || epoch % std::max<Index>(1, epochs_ / kLinesPerRun) == 0 || now - shown_ >= kLongestSilence;
  }

  void draw(const std::string& text) {
    fmt::print(out_, "\r{}\x1b[K", cut(text, columns_of(out_) - 1));
    std::fflush(out_);
    drawn_ = true;
  }

  void keep_drawn() {
    if (drawn_) fmt::print(out_, "\n");
    drawn_ = false;
  }

  void print(std::FILE* to, const std::string& text) {
    if (drawn_) fmt::print(out_, "\r\x1b[K");
    drawn_ = false;
    std::fflush(out_);
    fmt::print(to, "{}\n", text);
    std::fflush(to);
  }

  ProgressStyle style_;
  std::FILE* out_;
  std::FILE* err_;
  Index epochs_ = 0, epochs_here_ = 0;  // epochs asked for; epochs done since this start
  std::optional<double> validation_;    // the latest value
  TimeLeft time_left_;
  Clock::time_point shown_;
  bool drawn_ = false;
};

}  // namespace

ProgressStyle progress_style(std::FILE* out, bool quiet) {
  if (quiet) return ProgressStyle::kQuiet;
  return ::isatty(::fileno(out)) ? ProgressStyle::kRedrawn : ProgressStyle::kLines;
}

std::unique_ptr<RunObserver> make_progress(ProgressStyle style, std::FILE* out, std::FILE* err) {
  return std::make_unique<Progress>(style, out, err);
}

}  // namespace atl
