#include "operator/api/messages.h"

#include <nlohmann/json.hpp>

#include "operator/api/json_values.h"
#include "operator/api/pod.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestText = 1024, kLongestName = 253;
constexpr std::int64_t kMostRanks = 4096;  // placement.ranks

json parse_object(const std::string& text) {
  json object = json::parse(text, nullptr, false);
  return object.is_object() ? object : json();
}

/// As the launcher tells it, who sees a signal or a status, or as a worker does, who knows why.
std::string reason_of(const json& object) {
  if (auto told = bounded(text_of(object, "reason"), kLongestText); !told.empty()) return told;
  if (integer_of(object, "signal").value_or(0) > 0) return "Signal";
  return integer_of(object, "exitCode").value_or(0) > 0 ? "Exit" : "Lost";
}

std::optional<RankEnd> rank_end_of(const json& object) {
  const auto rank = integer_of(object, "rank");
  if (!rank) return {};
  RankEnd end;
  end.culprit.rank = rank;
  end.culprit.pod = bounded(text_of(object, "pod"), kLongestName);
  end.culprit.node = bounded(text_of(object, "node"), kLongestName);
  end.culprit.signal = signal_name(int(integer_of(object, "signal").value_or(0)));
  end.reason = reason_of(object);
  return end;
}

/// [from, to, bytes]
bool is_flow(const json& row, std::int64_t ranks) {
  auto in_range = [&](const json& rank) { return rank.is_number_integer() && rank >= 0 && rank < ranks; };
  return row.is_array() && row.size() == 3 && in_range(row[0]) && in_range(row[1]) && row[2].is_number() &&
         row[2] >= 0;
}

}  // namespace

std::optional<LaunchResult> read_launch_result(const std::string& message) {
  const json object = parse_object(message);
  const auto status = integer_of(object, "status");
  if (!status) return {};
  const json& result = member(object, "result");
  LaunchResult read;
  read.status = int(*status);
  read.outcome = bounded(text_of(result, "outcome"), kLongestText);
  read.result = {number_of(result, "test"), integer_of(result, "bestEpoch")};
  read.epochs = integer_of(result, "epochs");
  read.rank_end = rank_end_of(member(object, "culprit"));
  read.message = bounded(text_of(object, "message"), kLongestText);
  return read;
}

std::optional<RankEnd> read_rank_end(const std::string& message) {
  return rank_end_of(parse_object(message));
}

std::optional<Prepared> read_prepared(const std::string& line) {
  const json object = parse_object(line);
  const auto ranks = integer_of(object, "ranks");
  if (!ranks || *ranks < 1 || *ranks > kMostRanks || !member(object, "flows").is_array()) return {};
  Prepared read{bounded(text_of(object, "preparedChecksum"), kLongestName), int(*ranks), {}};
  for (const json& row : list_of(object, "flows")) {
    if (!is_flow(row, *ranks)) return {};
    read.flows.push_back({row[0].get<int>(), row[1].get<int>(), row[2].get<double>()});
  }
  return read;
}

}  // namespace atl::ctl
