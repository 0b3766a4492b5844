#include "command/run/rank_style.h"

#include <charconv>

#include "base/error.h"
#include "telemetry/progress.h"
#include "telemetry/record_json.h"
#include "telemetry/run_folder.h"

namespace atl {
namespace {

ProgressStyle progress_of(const std::string& style) {
  if (style == "terminal") return ProgressStyle::kRedrawn;
  return style == "lines" ? ProgressStyle::kLines : ProgressStyle::kQuiet;
}

/// Writes the line at once, so that no other rank's line can part it.
class ResultLine : public RunObserver {
 public:
  void on_result(const RunRecord& run) override {
    const std::string line = fmt::format("{} {}\n", kResultMark, result_summary(run));
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
};

}  // namespace

std::string chosen_style(const Arguments& arguments, std::FILE* out) {
  if (arguments.has("--json")) return "json";
  switch (progress_style(out, arguments.has("--quiet"))) {
    case ProgressStyle::kRedrawn:
      return "terminal";
    case ProgressStyle::kLines:
      return "lines";
    case ProgressStyle::kQuiet:
      return "quiet";
  }
  return "lines";
}

MetricsPlace metrics_place(const std::string& address, std::vector<Rank> ranks, pid_t starter) {
  MetricsPlace place;
  const auto colon = address.rfind(':');
  if (colon != std::string::npos) place.host = address.substr(0, colon);
  const std::string port = colon == std::string::npos ? address : address.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (error != std::errc() || end != port.data() + port.size() || place.port < 0 || place.port > 65535) {
    fail("--metrics: '{}' is not allowed (use PORT or HOST:PORT)", address);
  }
  place.ranks = std::move(ranks);
  place.name = fmt::format("atoll-{}-{}", starter, place.port);
  return place;
}

std::unique_ptr<RunObserver> make_narrator(const std::string& style) {
  if (style == "json") return make_json_events(stdout, stderr);
  return make_progress(progress_of(style), stdout, stderr);
}

std::unique_ptr<ObserverList> make_observers(const std::string& style, const std::filesystem::path& output,
                                             Rank rank, bool result_line) {
  auto list = std::make_unique<ObserverList>();
  if (rank != 0) return list;
  list->add(make_narrator(style));
  list->add(make_run_folder_writer(output));
  if (result_line) list->add(std::make_unique<ResultLine>());
  return list;
}

}  // namespace atl
