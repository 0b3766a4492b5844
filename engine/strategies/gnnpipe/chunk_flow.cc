#include "strategies/gnnpipe/chunk_flow.h"

#include <limits>
#include <queue>
#include <utility>

namespace atl {
namespace {

class Flow {
 public:
  Flow(const ChunkReads& reads, std::span<const int> order, const std::vector<bool>& gathers)
      : order_(order),
        gathers_(gathers),
        readers_(reads.size()),
        place_(reads.size()),
        missing_(gathers.size(), std::vector<int>(reads.size(), 1)),
        has_made_(reads.size(), false) {
    for (std::size_t i = 0; i < order.size(); ++i) place_[std::size_t(order[i])] = int(i);
    for (std::size_t chunk = 0; chunk < reads.size(); ++chunk)
      for (const int read : reads[chunk]) readers_[std::size_t(read)].push_back(int(chunk));
    for (std::size_t layer = 0; layer < gathers.size(); ++layer)
      for (std::size_t chunk = 0; gathers[layer] && chunk < reads.size(); ++chunk)
        missing_[layer][chunk] += int(reads[chunk].size());
  }

  std::vector<FlowStep> steps() {
    for (const int chunk : order_) {
      steps_.push_back({FlowStep::Kind::kArrive, chunk, 0});
      is_made(0, chunk);
      while (!ready_.empty()) {
        const auto [layer, place] = ready_.top();
        ready_.pop();
        steps_.push_back({FlowStep::Kind::kRun, order_[std::size_t(-place)], layer});
        is_made(layer + 1, order_[std::size_t(-place)]);
      }
    }
    return std::move(steps_);
  }

 private:
  /// What a chunk's `layer` reads: of the chunk itself, and by others where the layer gathers.
  void is_made(int layer, int chunk) {
    if (layer == int(gathers_.size())) return leave(chunk);
    count_down(layer, chunk);
    if (!gathers_[std::size_t(layer)]) return;
    for (const int reader : readers_[std::size_t(chunk)]) count_down(layer, reader);
  }
  void count_down(int layer, int chunk) {
    if (--missing_[std::size_t(layer)][std::size_t(chunk)] == 0)
      ready_.emplace(layer, -place_[std::size_t(chunk)]);
  }
  /// In order, whichever is through first.
  void leave(int chunk) {
    has_made_[std::size_t(chunk)] = true;
    for (; left_ < order_.size() && has_made_[std::size_t(order_[left_])]; ++left_)
      steps_.push_back({FlowStep::Kind::kLeave, order_[left_], 0});
  }

  std::span<const int> order_;
  const std::vector<bool>& gathers_;
  std::vector<std::vector<int>> readers_;           // by chunk
  std::vector<int> place_;                          // by chunk
  std::vector<std::vector<int>> missing_;           // (layers, chunks) of what it reads
  std::priority_queue<std::pair<int, int>> ready_;  // layer, and −place: the last layer's first of the order
  std::vector<bool> has_made_;                      // by chunk: of the last layer
  std::size_t left_ = 0;
  std::vector<FlowStep> steps_;
};

}  // namespace

std::vector<int> flow_order(const ChunkReads& reads) {
  std::vector<int> order;
  std::vector<bool> taken(reads.size(), false);
  while (order.size() < reads.size()) {
    int least = std::numeric_limits<int>::max(), next = 0;
    for (std::size_t chunk = 0; chunk < reads.size(); ++chunk) {
      if (taken[chunk]) continue;
      int missing = 0;  // less what is there
      for (const int read : reads[chunk]) missing += taken[std::size_t(read)] ? -1 : 1;
      if (missing < least) least = missing, next = int(chunk);
    }
    taken[std::size_t(next)] = true;
    order.push_back(next);
  }
  return order;
}

std::vector<FlowStep> chunk_flow(const ChunkReads& reads, std::span<const int> order,
                                 const std::vector<bool>& gathers) {
  return Flow(reads, order, gathers).steps();
}

}  // namespace atl
