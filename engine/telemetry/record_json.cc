// Records as JSON text and back.
#include "telemetry/run_folder.h"

#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/members.h"
#include "telemetry/confusion.h"

namespace atl {
namespace {

// ordered_json keeps keys as they are written, which is how people read them.
using Json = nlohmann::ordered_json;

/// The JSON text. Text that isn't UTF-8 (a path, a host's name) gets replacement characters instead of an
/// exception. The library writes null for numbers that aren't finite.
std::string text_of(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <class T>
concept HasMembers = requires {
  T::members();
};

/// Whether the struct's members have no keys, so that it is written as a list.
template <class T>
constexpr bool kIsList = std::is_member_object_pointer_v<std::tuple_element_t<0, decltype(T::members())>>;

// From values to JSON.
template <class T>
Json json_of(const T& value);
template <class T>
Json json_of(const std::optional<T>& value);
template <class T>
Json json_of(const std::vector<T>& values);
Json json_of(const std::vector<Phase>& phases);

template <class T>
Json json_of(const T& value) {
  if constexpr (HasMembers<T>) {
    Json json = kIsList<T> ? Json::array() : Json::object();
    each_member<T>([&](const auto& each) {
      if constexpr (kIsList<T>) {
        json.push_back(json_of(value.*each));
      } else {
        Json made = json_of(value.*each.member);
        if (*each.name == 0)
          json.update(made);
        else if (each.presence != Presence::kIfAny || !made.empty())
          json[each.name] = std::move(made);
      }
    });
    return json;
  } else {
    return Json(value);
  }
}

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json(nullptr);
}

template <class T>
Json json_of(const std::vector<T>& values) {
  Json json = Json::array();
  for (const T& value : values) json.push_back(json_of(value));
  return json;
}

Json json_of(const std::vector<Phase>& phases) {
  Json json = Json::object();
  for (const Phase& phase : phases) json[phase.name] = json_of(phase.seconds);
  return json;
}

// From JSON to values. `value` must be default-constructed.
template <class T>
void take(const Json& json, T& value);
template <class T>
void take(const Json& json, std::optional<T>& value);
template <class T>
void take(const Json& json, std::vector<T>& values);
void take(const Json& json, std::vector<Phase>& phases);

void take(const Json& json, double& value) {
  value = json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

template <class T>
void take(const Json& json, T& value) {
  if constexpr (HasMembers<T>) {
    [[maybe_unused]] std::size_t place = 0;
    each_member<T>([&](const auto& each) {
      if constexpr (kIsList<T>)
        take(json.at(place++), value.*each);
      else if (*each.name == 0)
        take(json, value.*each.member);
      else if (each.presence == Presence::kAlways || json.contains(each.name))
        take(json.at(each.name), value.*each.member);
    });
  } else {
    json.get_to(value);
  }
}

template <class T>
void take(const Json& json, std::optional<T>& value) {
  if (!json.is_null()) take(json, value.emplace());
}

template <class T>
void take(const Json& json, std::vector<T>& values) {
  for (const Json& each : json.get_ref<const Json::array_t&>()) take(each, values.emplace_back());
}

void take(const Json& json, std::vector<Phase>& phases) {
  for (const auto& [name, seconds] : json.items()) {
    Phase& phase = phases.emplace_back();
    phase.name = name;
    take(seconds, phase.seconds);
  }
}

template <class T>
T value_of(const Json& json) {
  T value;
  take(json, value);
  return value;
}

/// Adds some of a struct's members.
template <auto... kMembers, class Owner>
void put(Json& json, const Owner& owner) {
  static_assert(((*kMemberName<kMembers> != 0) && ...), "members() names them");
  ((json[kMemberName<kMembers>] = json_of(owner.*kMembers)), ...);
}

/// The library's words, without the name of its exception: "[json.exception.out_of_range.403] key …" becomes
/// "key …".
std::string words_of(const Json::exception& error) {
  const std::string text = error.what();
  const std::size_t name = text.starts_with('[') ? text.find("] ") : std::string::npos;
  return name == std::string::npos ? text : text.substr(name + 2);
}

/// Runs `read`, which reads parsed text, and turns the library's exceptions into Errors.
template <class Read>
auto reading(Read read) {
  try {
    return read();
  } catch (const Json::exception& error) {
    fail("{}", words_of(error));
  }
}

void expect_size(const char* key, std::size_t size, Index expected) {
  if (Index(size) != expected) fail("{} has {} entries where {} are needed", key, size, expected);
}

/// Checks the size of a vector that may be empty.
template <auto kMember>
void check_size(const RunRecord& run, Index expected) {
  if (!(run.*kMember).empty()) expect_size(kMemberName<kMember>, (run.*kMember).size(), expected);
}

/// Checks the sizes of the record's vectors, since readers index these without checking.
void check_sizes(const RunRecord& run) {
  const Index ranks = run.setting.ranks, classes = run.confusion.classes;
  if (ranks < 1 || classes < 0 || classes > 1'000'000) fail("{} ranks, {} classes", ranks, classes);
  if (!run.setting.hosts.empty())
    expect_size(kMemberName<&RunSetting::hosts>, run.setting.hosts.size(), ranks);
  check_size<&RunRecord::peak_memory_bytes>(run, ranks);
  check_size<&RunRecord::phases_by_rank>(run, ranks);
  check_size<&RunRecord::typical_by_rank>(run, ranks);
  check_size<&RunRecord::bytes_by_pair>(run, ranks * ranks);
  expect_size("confusion.counts", run.confusion.counts.size(), classes * classes);
}

Json links_of(const RunRecord& run) {
  const LinkMetrics& links = *run.links;
  Json json;
  put<&LinkMetrics::roc_auc, &LinkMetrics::average_precision, &LinkMetrics::mrr>(json, links);
  for (std::size_t i = 0; i < kHitsAt.size(); ++i) json[fmt::format("hits@{}", kHitsAt[i])] = links.hits[i];
  if (run.setting.metric.starts_with("hits@")) json[run.setting.metric] = links.hits_at;
  return json;
}

/// Adds the final metrics, and the epoch whose weights they are of.
void put_best(Json& json, const RunRecord& run) {
  put<&RunRecord::test>(json, run);
  json["testF1Macro"] = json_of(f1_macro(run.confusion));
  json["testMajority"] = json_of(majority_share(run.confusion));
  put<&RunRecord::validation, &RunRecord::best_epoch>(json, run);
}

}  // namespace

std::string epoch_line(const EpochRecord& epoch) {
  return text_of(json_of(epoch));
}

EpochRecord parse_epoch_line(const std::string& line) {
  return reading([&] { return value_of<EpochRecord>(parse_ordered_json(line)); });
}

std::string run_document(const RunRecord& run) {
  Json json = {{"format", 1}};
  json.update(json_of(run));
  return text_of(json, 1) + "\n";
}

RunRecord parse_run_document(const std::string& text) {
  return reading([&] {
    const Json json = parse_ordered_json(text);
    if (json.at("format") != 1) fail("format {}, but this version reads 1", json.at("format").dump());
    auto run = value_of<RunRecord>(json);
    check_sizes(run);
    return run;
  });
}

std::string explained_text(const ExplainedFigures& figures) {
  return text_of(json_of(figures));
}

ExplainedFigures parse_explained(const std::string& text) {
  return reading([&] { return value_of<ExplainedFigures>(parse_ordered_json(text)); });
}

std::string epoch_event(const EpochRecord& epoch) {
  Json json = {{"event", "epoch"}};
  put<&EpochRecord::epoch, &EpochRecord::loss, &EpochRecord::validation, &EpochRecord::epoch_seconds,
      &EpochRecord::bytes>(json, epoch);
  return text_of(json);
}

std::string result_event(const RunRecord& run) {
  Json json = {{"event", "result"}};
  put_best(json, run);
  put<&RunRecord::epoch_seconds_median, &RunRecord::startup_seconds, &RunRecord::peak_memory_bytes>(json,
                                                                                                    run);
  put<&RunSetting::output>(json, run.setting);
  if (run.links) json["links"] = links_of(run);
  if (run.pipeline) put<&PipelineEpoch::bubble>(json, *run.pipeline);
  return text_of(json);
}

std::string result_summary(const RunRecord& run) {
  const auto& peaks = run.peak_memory_bytes;
  Json json;
  put<&RunRecord::outcome>(json, run);
  put_best(json, run);
  json["epochs"] = run.epochs.empty() ? run.resumed_from : run.epochs.back().epoch;
  put<&RunRecord::epoch_seconds_median, &RunRecord::startup_seconds>(json, run);
  json["largestPeakMemoryBytes"] = peaks.empty() ? 0 : std::ranges::max(peaks);
  if (run.links) {
    put<&RunSetting::metric>(json, run.setting);
    json["links"] = links_of(run);
  }
  return text_of(json);
}

}  // namespace atl
