#include "train/roc_auc.h"

#include <algorithm>
#include <cstring>

namespace atl {
namespace {

struct Scored {
  float score;
  std::uint32_t positive;
};

/// All ranks' pairs for one class, in rank order.
std::vector<std::pair<float, bool>> gather(Communicator& comm, const std::vector<Scored>& mine) {
  const auto blobs = comm.all_gather(Traffic::kEvaluation, std::as_bytes(std::span(mine)));
  std::vector<std::pair<float, bool>> all;
  for (const auto& blob : blobs) {
    for (std::size_t at = 0; at + sizeof(Scored) <= blob.size(); at += sizeof(Scored)) {
      Scored s;
      std::memcpy(&s, blob.data() + at, sizeof s);
      all.emplace_back(s.score, s.positive != 0);
    }
  }
  return all;
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
        "training.metric: rocAuc needs two classes or multi-label targets; the data set has {} classes (use "
        "accuracy)",
        data.classes());
  }
  double sum = 0, classes = 0;
  for (Index c = 0; c < (data.multi_label() ? data.classes() : 1); ++c) {
    std::vector<Scored> mine;
    for (const VertexId r : rows) {
      if (data.multi_label())
        mine.push_back({float(logits.at(r, c)), data.targets().at(r, c)});
      else
        mine.push_back({float(logits.at(r, 1) - logits.at(r, 0)), std::uint32_t(data.labels()[r])});
    }
    if (const auto area = roc_auc(gather(comm, mine))) {
      sum += *area;
      classes += 1;
    }
  }
  if (classes == 0) return std::nullopt;
  return sum / classes;
}

}  // namespace atl
