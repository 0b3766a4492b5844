#include "sampler/history/history_directory.h"

#include <algorithm>

#include "base/error.h"

namespace atl {

void PushedRows::take(const PushedRows& other) {
  std::ranges::copy(other.rows.span(), rows.take(other.rows.size()).begin());
  begins = other.begins, counts = other.counts;
}

std::span<const VertexId> PushedRows::of(Rank peer, int layer) const {
  const std::size_t layers = counts.size() / (begins.size() - 1);
  return rows.span().subspan(std::size_t(begins[std::size_t(peer)]),
                             std::size_t(counts[std::size_t(peer) * layers + std::size_t(layer)]));
}

Index PushedRows::all_of(int layer) const {
  Index all = 0;
  for (Rank peer = 0; peer + 1 < Rank(begins.size()); ++peer) all += Index(of(peer, layer).size());
  return all;
}

HistoryDirectory::HistoryDirectory(const HistoryRows& rows, const HistoryOptions& options)
    : rows_(&rows),
      options_(options),
      pushed_(std::size_t(options.layers) * std::size_t(rows.slots()), kNever),
      pushes_(std::size_t(options.delay) + 1) {
  ATOLL_CHECK(options.layers >= 1 && options.delay >= 1 && options.max_age >= options.delay,
              "{} layers, a delay of {}, an age of {}", options.layers, options.delay, options.max_age);
  for (Push& each : pushes_) each.arriving.rows.reserve(rows.slots());
}

const PushedRows* HistoryDirectory::pushed_in(std::int64_t step) const {
  if (step < 0) return nullptr;
  const Push& push = pushes_[std::size_t(step) % pushes_.size()];
  return push.step == step ? &push.arriving : nullptr;
}

const PushedRows* HistoryDirectory::due(std::int64_t step) const {
  return pushed_in(step - options_.delay);
}

void HistoryDirectory::begin(std::int64_t step) {
  step_ = step;
  const PushedRows* const arrived = due(step);
  if (arrived == nullptr) return;
  for (int layer = 0; layer < options_.layers; ++layer)
    for (Rank peer = 0; peer < rows_->ranks(); ++peer)
      for (const VertexId slot : arrived->of(peer, layer))
        pushed_[index(layer, slot)] = step - options_.delay;
}

PushedRows& HistoryDirectory::put(std::int64_t step) {
  Push& push = pushes_[std::size_t(step) % pushes_.size()];
  push.step = step;
  return push.arriving;
}

void HistoryDirectory::add(const PushedRows& arriving) {
  put(step_).take(arriving);
}

void HistoryDirectory::take(const HistoryDirectory& other) {
  step_ = other.step_;
  pushed_ = other.pushed_;
  for (std::size_t i = 0; i < pushes_.size(); ++i) {
    pushes_[i].step = other.pushes_[i].step;
    if (other.pushes_[i].step != kNever) pushes_[i].arriving.take(other.pushes_[i].arriving);
  }
}

std::int64_t HistoryDirectory::age(int layer, VertexId slot, std::int64_t step) const {
  return std::min(step - pushed_[index(layer, slot)], most_age());
}

void HistoryDirectory::set_age(int layer, VertexId slot, std::int64_t step, std::int64_t age) {
  pushed_[index(layer, slot)] = age == most_age() ? kNever : step - age;
}

Index HistoryDirectory::growths() const {
  Index sum = 0;
  for (const Push& each : pushes_) sum += each.arriving.rows.growths();
  return sum;
}

Index HistoryDirectory::bytes() const {
  Index sum = Index(pushed_.size() * sizeof(pushed_[0]));
  for (const Push& each : pushes_) sum += each.arriving.rows.bytes();
  return sum;
}

}  // namespace atl
