#include "command/rank_style.h"

#include <charconv>

#include "base/error.h"
#include "train/json_events.h"
#include "train/metrics_server.h"
#include "train/progress.h"
#include "train/record_json.h"
#include "train/run_folder.h"

namespace atl {
namespace {

MetricsAddress address_of(const std::string& text) {
  MetricsAddress address;
  const auto colon = text.rfind(':');
  if (colon != std::string::npos) address.host = text.substr(0, colon);
  const std::string port = colon == std::string::npos ? text : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size() || address.port < 0 || address.port > 65535) {
    fail("--metrics: '{}' is not allowed (use PORT or HOST:PORT)", text);
  }
  return address;
}

ProgressStyle progress_of(const std::string& style) {
  if (style == "terminal") return ProgressStyle::kRedrawn;
  return style == "lines" ? ProgressStyle::kLines : ProgressStyle::kQuiet;
}

/// One write, so that no other rank's line can part it.
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

void check_metrics_address(const std::string& metrics) {
  address_of(metrics);
}

std::unique_ptr<RunObserver> make_observers(const std::string& style, const std::string& metrics,
                                            const std::filesystem::path& output, int rank, bool result_line) {
  auto list = std::make_unique<ObserverList>();
  if (rank == 0 && style == "json") list->add(make_json_events(stdout, stderr));
  if (rank == 0 && style != "json") list->add(make_progress(progress_of(style), stdout, stderr));
  if (rank == 0) list->add(make_run_folder_writer(output));
  if (rank == 0 && result_line) list->add(std::make_unique<ResultLine>());
  if (!metrics.empty()) list->add(std::make_unique<MetricsServer>(address_of(metrics), rank));
  return list;
}

}  // namespace atl
