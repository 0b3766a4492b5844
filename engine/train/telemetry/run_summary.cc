#include "train/telemetry/run_summary.h"

#include <algorithm>

#include "train/confusion.h"
#include "train/telemetry/json_values.h"

namespace atl {

std::string epoch_event(const EpochRecord& epoch) {
  return text_of({{"event", "epoch"},
                  {"epoch", epoch.epoch},
                  {"loss", number_json(epoch.loss)},
                  {"validation", number_json(epoch.validation)},
                  {"epochSeconds", number_json(epoch.epoch_seconds)},
                  {"bytes", bytes_json(epoch)}});
}

std::string result_event(const RunRecord& run) {
  return text_of({{"event", "result"},
                  {"test", number_json(run.test)},
                  {"testF1Macro", number_json(f1_macro(run.confusion))},
                  {"testMajority", number_json(majority_share(run.confusion))},
                  {"validation", number_json(run.validation)},
                  {"bestEpoch", run.best_epoch},
                  {"epochSecondsMedian", number_json(run.epoch_seconds_median)},
                  {"startupSeconds", number_json(run.startup_seconds)},
                  {"peakMemoryBytes", run.peak_memory_bytes},
                  {"output", run.setting.output}});
}

std::string result_summary(const RunRecord& run) {
  const auto& peaks = run.peak_memory_bytes;
  const auto largest = peaks.empty() ? 0 : std::ranges::max(peaks);
  return text_of({{"outcome", run.outcome},
                  {"test", number_json(run.test)},
                  {"testF1Macro", number_json(f1_macro(run.confusion))},
                  {"testMajority", number_json(majority_share(run.confusion))},
                  {"validation", number_json(run.validation)},
                  {"bestEpoch", run.best_epoch},
                  {"epochs", run.epochs.empty() ? run.resumed_from : run.epochs.back().epoch},
                  {"epochSecondsMedian", number_json(run.epoch_seconds_median)},
                  {"startupSeconds", number_json(run.startup_seconds)},
                  {"largestPeakMemoryBytes", largest}});
}

}  // namespace atl
