#include "dataset/generate/labels.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "dataset/generate/streams.h"

namespace atl {
namespace {

constexpr double kTopicLabels = 8;     // labels that a topic makes likely, about
constexpr double kTopicChance = 0.7;   // of each of them
constexpr double kStrayChance = 0.03;  // of any other

/// Two vertices that both follow their communities agree where those do; any other pair agrees by chance,
/// which is the probability `chance` that two groups drawn by share are equal. Solved for the share that
/// follows.
double faithful_share(const CommunitySpec& spec, double same_group, double chance) {
  const double reach = same_group - chance, wanted = spec.homophily - chance;
  if (wanted < -0.01 || wanted > reach + 0.01) {
    fail(
        "homophily {}: with {} classes and this share of far arcs only {:.2f} … {:.2f} is possible; use a "
        "value in this range, or fewer far arcs",
        spec.homophily, spec.classes, chance, same_group);
  }
  return reach <= 0 ? 1.0 : std::sqrt(std::clamp(wanted / reach, 0.0, 1.0));
}

}  // namespace

LabelModel::LabelModel(const CommunitySpec& spec, const Line& line, double same_group) : spec_(spec) {
  double sum = 0, chance = 0;
  for (double share : line.group_share()) {
    until_.push_back(sum += share);
    chance += share * share;
  }
  faithful_ = faithful_share(spec, same_group, chance);
  if (spec.multi_label) draw_topics();
}

int LabelModel::group(VertexId id, int community_group) const {
  const Draws draws = generator_stream(spec_, Stream::kLabel);
  if (draws.uniform_at(std::uint64_t(id), 0) < faithful_) return community_group;
  const double u = draws.uniform_at(std::uint64_t(id), 1);
  return int(std::min<std::ptrdiff_t>(std::upper_bound(until_.begin(), until_.end(), u) - until_.begin(),
                                      std::ptrdiff_t(until_.size()) - 1));
}

/// Labels that share a topic occur together; a label's number of topics falls with its rank, so some are
/// common and some are rare.
void LabelModel::draw_topics() {
  const Draws draws = generator_stream(spec_, Stream::kTopicLabels);
  const auto classes = std::size_t(spec_.classes);
  double popularity = 0;
  for (std::size_t c = 0; c < classes; ++c) popularity += 1 / std::sqrt(double(c + 1));
  label_chance_.resize(until_.size() * classes);
  for (std::size_t topic = 0; topic < until_.size(); ++topic) {
    for (std::size_t c = 0; c < classes; ++c) {
      const double share = kTopicLabels / popularity / std::sqrt(double(c + 1));
      const bool of_topic = c == topic % classes || draws.uniform_at(topic, c) < share;
      label_chance_[topic * classes + c] = float(of_topic ? kTopicChance : kStrayChance);
    }
  }
}

void LabelModel::targets(VertexId id, int group, std::span<std::uint8_t> out) const {
  const std::uint64_t row = generator_stream(spec_, Stream::kTarget).row_key(std::uint64_t(id));
  const float* chance = label_chance_.data() + std::size_t(group) * std::size_t(spec_.classes);
  for (std::size_t c = 0; c < out.size(); ++c) {
    out[c] = double(Draws::bits(row, std::uint32_t(c))) < double(chance[c]) * 0x1p32;
  }
}

/// A mean is a vector of ±scale, the signs drawn by label and column.
void LabelModel::add_mean(int label, float scale, std::span<float> out) const {
  const std::uint64_t row = generator_stream(spec_, Stream::kMean).row_key(std::uint64_t(label));
  for (std::size_t f = 0; f < out.size(); ++f) {
    out[f] += (Draws::bits(row, std::uint32_t(f)) & 1) ? scale : -scale;
  }
}

/// The sum of the four bytes of a draw, centred and scaled: a bell of deviation 1 between ±3.45, in whole
/// numbers until the last step.
void LabelModel::add_noise(VertexId id, std::span<float> out) const {
  constexpr float kScale = 1 / 147.8005f;  // deviation of the sum of four uniform bytes
  const std::uint64_t row = generator_stream(spec_, Stream::kNoise).row_key(std::uint64_t(id));
  for (std::size_t f = 0; f < out.size(); ++f) {
    const std::uint32_t bits = Draws::bits(row, std::uint32_t(f));
    const std::uint32_t pairs = (bits & 0x00ff00ffu) + ((bits >> 8) & 0x00ff00ffu);
    out[f] += float(std::int32_t((pairs & 0xffffu) + (pairs >> 16)) - 510) * kScale;
  }
}

void LabelModel::features(VertexId id, int group, std::span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0f);
  const float scale = float(spec_.signal / std::sqrt(double(std::max<std::size_t>(out.size(), 1))));
  if (!spec_.multi_label) {
    add_mean(group, scale, out);
  } else {
    std::vector<std::uint8_t> labels(std::size_t(spec_.classes));
    targets(id, group, labels);
    for (std::size_t c = 0; c < labels.size(); ++c) {
      if (labels[c]) add_mean(int(c), scale, out);
    }
  }
  add_noise(id, out);
}

Split LabelModel::split(VertexId id) const {
  const double u = generator_stream(spec_, Stream::kSplit).uniform_at(std::uint64_t(id), 0);
  if (u < spec_.train) return Split::kTrain;
  return u < spec_.train + spec_.validation ? Split::kValidation : Split::kTest;
}

}  // namespace atl
