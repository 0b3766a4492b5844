#include "operator/api/messages.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/json_values.h"
#include "operator/api/pod.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestText = 1024, kLongestName = 253;

json parse_object(const std::string& text) {
  json object = json::parse(text, nullptr, false);
  return object.is_object() ? object : json();
}

std::optional<RankEnd> rank_end_of(const json& object) {
  if (!object.is_object() || !member(object, "reason").is_string()) return {};
  RankEnd end;
  end.culprit.rank = integer_of(object, "rank");
  end.culprit.pod = bounded(text_of(object, "pod"), kLongestName);
  end.culprit.signal = signal_name(int(integer_of(object, "signal").value_or(0)));
  end.reason = bounded(text_of(object, "reason"), kLongestText);
  return end;
}

std::vector<CutRows> cut_of(const json& rows, int ranks) {
  std::vector<CutRows> cut;
  auto in_range = [&](const json& rank) { return rank.is_number_integer() && rank >= 0 && rank < ranks; };
  for (const json& row : rows) {
    const bool is_good = row.is_array() && row.size() == 3 && in_range(row[0]) && in_range(row[1]) &&
                         row[2].is_number_integer() && row[2] >= 0;
    if (!is_good) return {};
    cut.push_back({row[0].get<Rank>(), row[1].get<Rank>(), row[2].get<Index>()});
  }
  return cut;
}

}  // namespace

std::optional<LaunchResult> read_launch_result(const std::string& message) {
  const json object = parse_object(message);
  const auto status = integer_of(object, "status");
  LaunchResult read;
  read.outcome = bounded(text_of(object, "outcome"), kLongestText);
  if (read.outcome.empty() || !status) return {};
  read.status = int(*status);
  read.result = {number_of(object, "test"), integer_of(object, "bestEpoch")};
  read.validation = number_of(object, "validation");
  read.epochs = integer_of(object, "epochs");
  read.rank_end = rank_end_of(member(object, "culprit"));
  read.message = bounded(text_of(object, "message"), kLongestText);
  return read;
}

std::optional<RankEnd> read_rank_end(const std::string& message) {
  return rank_end_of(parse_object(message));
}

std::optional<Prepared> read_prepared(const std::string& line) {
  const json object = parse_object(line);
  const auto ranks = integer_of(object, "ranks"), halo = integer_of(object, "haloRows");
  if (!ranks || *ranks < 1 || *ranks > 4096 || !halo) return {};
  Prepared read;
  read.checksum = bounded(text_of(object, "checksum"), kLongestName);
  read.shape.ranks = int(*ranks);
  read.shape.halo_rows = *halo;
  read.shape.parameters = integer_of(object, "parameters").value_or(0);
  for (const json& width : list_of(object, "widths"))
    if (width.is_number_integer()) read.shape.widths.push_back(width.get<Index>());
  read.cut = cut_of(list_of(object, "cut"), read.shape.ranks);
  return read;
}

}  // namespace atl::ctl
