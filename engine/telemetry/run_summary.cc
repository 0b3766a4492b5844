#include "telemetry/run_summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "telemetry/confusion.h"

namespace atl {
namespace {

// ordered_json keeps keys as they are written here, which is how people read them.
using Json = nlohmann::ordered_json;

/// Text that isn't UTF-8 (a path, a host's name) gets replacement characters instead of an exception.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// null: not known. So are numbers that aren't finite, which the library writes so.
Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json links_of(const RunRecord& run) {
  const LinkMetrics& links = *run.links;
  Json json{{"rocAuc", links.roc_auc}, {"averagePrecision", links.average_precision}, {"mrr", links.mrr}};
  for (std::size_t i = 0; i < kHitsAt.size(); ++i) json[fmt::format("hits@{}", kHitsAt[i])] = links.hits[i];
  if (run.setting.metric.starts_with("hits@")) json[run.setting.metric] = links.hits_at;
  return json;
}

}  // namespace

std::string epoch_event(const EpochRecord& epoch) {
  return text_of({{"event", "epoch"},
                  {"epoch", epoch.epoch},
                  {"loss", epoch.loss},
                  {"validation", or_null(epoch.validation)},
                  {"epochSeconds", epoch.epoch_seconds},
                  {"bytes", {{"intra", epoch.bytes_intra}, {"inter", epoch.bytes_inter}}}});
}

std::string result_event(const RunRecord& run) {
  Json json{{"event", "result"},
            {"test", or_null(run.test)},
            {"testF1Macro", or_null(f1_macro(run.confusion))},
            {"testMajority", or_null(majority_share(run.confusion))},
            {"validation", or_null(run.validation)},
            {"bestEpoch", run.best_epoch},
            {"epochSecondsMedian", run.epoch_seconds_median},
            {"startupSeconds", run.startup_seconds},
            {"peakMemoryBytes", run.peak_memory_bytes},
            {"output", run.setting.output}};
  if (run.links) json["links"] = links_of(run);
  if (run.pipeline) json["bubble"] = run.pipeline->bubble;
  return text_of(json);
}

std::string result_summary(const RunRecord& run) {
  const auto& peaks = run.peak_memory_bytes;
  const auto largest = peaks.empty() ? 0 : std::ranges::max(peaks);
  Json json{{"outcome", run.outcome},
            {"test", or_null(run.test)},
            {"testF1Macro", or_null(f1_macro(run.confusion))},
            {"testMajority", or_null(majority_share(run.confusion))},
            {"validation", or_null(run.validation)},
            {"bestEpoch", run.best_epoch},
            {"epochs", run.epochs.empty() ? run.resumed_from : run.epochs.back().epoch},
            {"epochSecondsMedian", run.epoch_seconds_median},
            {"startupSeconds", run.startup_seconds},
            {"largestPeakMemoryBytes", largest}};
  if (run.links) json["metric"] = run.setting.metric, json["links"] = links_of(run);
  return text_of(json);
}

}  // namespace atl
