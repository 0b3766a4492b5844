#include "telemetry/json_events.h"

#include "base/error.h"
#include "telemetry/run_summary.h"

namespace atl {
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
