// What a rank reports to Prometheus: each metric once, made from the run's records.
#include "telemetry/metrics_server.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <cctype>
#include <chrono>
#include <map>
#include <sstream>
#include <vector>

#include "base/memory.h"

namespace atl {
namespace {

using Labels = std::map<std::string, std::string>;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;

/// Bounds of the buckets: 1 ms … 5000 s, three per decade.
Histogram::BucketBoundaries epoch_buckets() {
  Histogram::BucketBoundaries bounds;
  for (double decade = 1e-3; decade < 5000; decade *= 10)
    for (const double step : {1., 2.5, 5.}) bounds.push_back(decade * step);
  return bounds;
}

/// Turns any text into a valid name of a label.
std::string label_name(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "_" + name : name;
}

void set(Family<Gauge>& family, double value, const Labels& labels = {}) {
  family.Add(labels).Set(value);
}

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

/// All metrics, each once. An unknown value has no sample, rather than a false 0.
struct RankMetrics::Families {
  explicit Families(Rank rank) : own{{"rank", std::to_string(rank)}} {}

  Family<Gauge>& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Labels(own).Register(registry);
  }
  Family<Counter>& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Labels(own).Register(registry);
  }

  prometheus::Registry registry;
  Labels own;
  Family<Gauge>& build = gauge("atoll_build_info", "Always 1; the labels describe the build.");
  Family<Gauge>& run = gauge("atoll_run_info", "Always 1; the labels describe the job.");
  Family<Gauge>& epoch = gauge("atoll_epoch", "Epochs completed.");
  Family<Gauge>& epochs = gauge("atoll_epochs_target", "Number of epochs to train.");
  Family<Gauge>& step =
      gauge("atoll_step", "Steps of the present epoch that are done, where it has several.");
  Family<Gauge>& steps = gauge("atoll_steps_per_epoch", "Steps that an epoch has, where it has several.");
  Family<Gauge>& loss = gauge("atoll_loss", "Mean training loss of the last epoch.");
  Family<Gauge>& validation_loss =
      gauge("atoll_validation_loss", "Mean validation loss when last evaluated.");
  Family<Gauge>& accuracy =
      gauge("atoll_accuracy", "The run's metric, a fraction from 0 to 1, when last evaluated.");
  Family<Gauge>& learning_rate = gauge("atoll_learning_rate", "Learning rate of the last epoch.");
  Family<Gauge>& checkpoint = gauge("atoll_checkpoint_epoch", "Epoch of the newest checkpoint.");
  Family<Gauge>& last_epoch =
      gauge("atoll_last_epoch_timestamp_seconds", "When the last epoch ended, in seconds since 1970.");
  Family<Gauge>& memory = gauge("atoll_rank_memory_bytes", "Resident memory of this rank.");
  Family<Gauge>& peak = gauge("atoll_rank_memory_peak_bytes", "Peak resident memory of this rank.");
  Family<Counter>& phases = counter("atoll_phase_seconds_total", "Time of this rank by phase.");
  Family<Counter>& traffic = counter("atoll_comm_bytes_total", "Bytes that this rank sent to others.");
  Family<Counter>& feature_rows = counter(
      "atoll_feature_rows_total",
      "Rows of input features of this rank's batches, by where they were: own (the host's memory), gpu (own ones in "
      "its memory), cache, owner (another rank).");
  Family<Counter>& reallocations =
      counter("atoll_batch_memory_growths_total",
              "Steps in which memory grew, because a batch was larger than all before.");
  Histogram& epoch_seconds = prometheus::BuildHistogram()
                                 .Name("atoll_epoch_seconds")
                                 .Help("Training time of an epoch, without evaluation and checkpoints.")
                                 .Labels(own)
                                 .Register(registry)
                                 .Add({}, epoch_buckets());
};

RankMetrics::RankMetrics(Rank rank) : families_(std::make_unique<Families>(rank)) {}
RankMetrics::~RankMetrics() = default;

void RankMetrics::start(const RunRecord& run) {
  Families& m = *families_;
  const RunSetting& s = run.setting;
  metric_ = s.metric;
  Labels versions;
  for (const auto& [what, version] : s.versions) versions[label_name(what)] = version;
  set(m.build, 1, versions);
  set(m.run, 1, {{"job", s.name}, {"dataset", s.dataset}, {"model", s.model}, {"strategy", s.strategy}});
  set(m.epoch, double(run.resumed_from));
  set(m.epochs, double(s.epochs));
  if (run.resumed_from > 0) set(m.checkpoint, double(run.resumed_from));
}

void RankMetrics::add(const EpochRecord& e) {
  Families& m = *families_;
  set(m.epoch, double(e.epoch));
  if (has_steps_) set(m.step, 0);
  set(m.loss, e.loss);
  set(m.learning_rate, e.learning_rate);
  set(m.last_epoch, seconds_since_1970());
  if (e.validation_loss) set(m.validation_loss, *e.validation_loss);
  const auto accuracy = [&](const char* split, const std::optional<double>& value) {
    if (value) set(m.accuracy, *value, {{"split", split}, {"metric", metric_}});
  };
  accuracy("train", e.train);
  accuracy("validation", e.validation);
  accuracy("test", e.test);
  m.epoch_seconds.Observe(e.epoch_seconds);
  for (const Phase& phase : e.own.phases) m.phases.Add({{"phase", phase.name}}).Increment(phase.seconds);
  if (e.own.batches) {
    const Index gpu_rows = e.own.batches->gpu_rows;
    m.feature_rows.Add({{"from", "own"}}).Increment(double(e.own.batches->own_rows - gpu_rows));
    if (gpu_rows > 0) m.feature_rows.Add({{"from", "gpu"}}).Increment(double(gpu_rows));
    m.feature_rows.Add({{"from", "cache"}}).Increment(double(e.own.batches->cached_rows));
    m.feature_rows.Add({{"from", "owner"}}).Increment(double(e.own.batches->fetched_rows));
    m.reallocations.Add({}).Increment(double(e.own.batches->reallocations));
  }
  for (const LinkTraffic& t : e.own.traffic)
    m.traffic.Add({{"link", t.link}, {"purpose", t.purpose}}).Increment(double(t.bytes));
}

void RankMetrics::add(const StepRecord& s) {
  has_steps_ = true;
  set(families_->step, double(s.step));
  set(families_->steps, double(s.steps));
}

void RankMetrics::checkpoint(Index epoch) {
  set(families_->checkpoint, double(epoch));
}

std::string RankMetrics::text() {
  const ProcessMemory now = process_memory();
  set(families_->memory, double(now.resident_bytes));
  set(families_->peak, double(now.peak_bytes));
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, families_->registry.Collect());
  return out.str();
}

namespace {

/// One metric of all pages.
struct JoinedMetric {
  std::string comments, samples;
};

class Joined {
 public:
  void add(const std::string& page) {
    std::istringstream lines(page);
    JoinedMetric* family = nullptr;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# ")) {
        family = &family_of(line);
        if (family->comments.find(line + "\n") == std::string::npos) family->comments += line + "\n";
      } else if (family != nullptr) {
        family->samples += line + "\n";
      }
    }
  }

  std::string text() const {
    std::string text;
    for (const std::string& name : names_) {
      const JoinedMetric& family = families_.at(name);
      text += family.comments + family.samples;
    }
    return text;
  }

 private:
  /// The metric that a comment is about: "# HELP name …" or "# TYPE name …".
  JoinedMetric& family_of(const std::string& comment) {
    std::istringstream words(comment);
    std::string name;
    words >> name >> name >> name;
    const auto [found, is_new] = families_.try_emplace(name);
    if (is_new) names_.push_back(name);
    return found->second;
  }

  std::map<std::string, JoinedMetric> families_;
  std::vector<std::string> names_;  // in order of appearance
};

}  // namespace

std::string join_expositions(std::span<const std::string> pages) {
  Joined joined;
  for (const std::string& page : pages) joined.add(page);
  return joined.text();
}

}  // namespace atl
