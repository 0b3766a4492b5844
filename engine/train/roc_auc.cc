#include "train/roc_auc.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace atl {
namespace {

struct Scored {
  float score;
  std::uint32_t positive;
};

/// On rank 0 all ranks' pairs for one class, in rank order; nothing elsewhere.
std::vector<std::pair<float, bool>> gather(Communicator& comm, const std::vector<Scored>& mine) {
  std::vector<std::vector<std::byte>> to(std::size_t(comm.size()));
  const auto bytes = std::as_bytes(std::span(mine));
  to[0].assign(bytes.begin(), bytes.end());
  std::vector<std::pair<float, bool>> all;
  for (const auto& blob : comm.all_to_all(Traffic::kEvaluation, to)) {
    for (std::size_t at = 0; at + sizeof(Scored) <= blob.size(); at += sizeof(Scored)) {
      Scored s;
      std::memcpy(&s, blob.data() + at, sizeof s);
      all.emplace_back(s.score, s.positive != 0);
    }
  }
  return all;
}

/// Every labelled row's score for class c.
std::vector<Scored> scores_of(const RankData& data, ConstMatrixView logits, std::span<const VertexId> rows,
                              Index c) {
  const Labels& labels = data.labels();
  std::vector<Scored> scored;
  scored.reserve(rows.size());
  for (const VertexId r : rows) {
    if (data.multi_label())
      scored.push_back({float(logits.at(r, c)), labels.target_rows().at(r, c)});
    else
      scored.push_back(
          {float(logits.at(r, 1) - logits.at(r, 0)), std::uint32_t(labels.classes[std::size_t(r)])});
  }
  return scored;
}

}  // namespace

/// By ranks (Mann-Whitney): Σ of the positives' mean ranks.
std::optional<double> roc_auc(std::vector<std::pair<float, bool>> scored) {
  std::sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  double positives = 0, rank_sum = 0;
  for (std::size_t i = 0; i < scored.size();) {
    std::size_t j = i;
    double here = 0;
    while (j < scored.size() && scored[j].first == scored[i].first) here += scored[j++].second;
    rank_sum += here * (double(i + j + 1) / 2);  // the mean of ranks i + 1 … j
    positives += here;
    i = j;
  }
  const double negatives = double(scored.size()) - positives;
  if (positives == 0 || negatives == 0) return std::nullopt;
  return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives);
}

std::optional<double> roc_auc(Communicator& comm, const RankData& data, ConstMatrixView logits,
                              std::span<const VertexId> rows) {
  if (!data.multi_label() && data.classes() != 2) {
    fail(
        "training.metric: rocAuc needs two classes or several labels per vertex, but the data set has {} "
        "classes (use accuracy, f1Micro or f1Macro)",
        data.classes());
  }
  std::array<double, 2> areas{0, 0};  // Σ over classes, and how many
  for (Index c = 0; c < (data.multi_label() ? data.classes() : 1); ++c) {
    if (const auto area = roc_auc(gather(comm, scores_of(data, logits, rows, c)))) {
      areas[0] += *area;
      areas[1] += 1;
    }
  }
  comm.broadcast(Traffic::kEvaluation, 0, std::as_writable_bytes(std::span(areas)));
  if (areas[1] == 0) return std::nullopt;
  return areas[0] / areas[1];
}

}  // namespace atl
