#include "sampler/cache_rows.h"

#include <algorithm>
#include <cstring>

namespace atl {
namespace {

struct Nominee {
  double degree;
  VertexId row;
};

/// More before fewer; of equals the lower row, so that every rank has the same order.
bool before(const Nominee& a, const Nominee& b) {
  return a.degree != b.degree ? a.degree > b.degree : a.row < b.row;
}

void keep_first(std::vector<Nominee>& nominees, std::size_t count) {
  if (count < nominees.size()) {
    std::nth_element(nominees.begin(), nominees.begin() + std::ptrdiff_t(count), nominees.end(), before);
    nominees.resize(count);
  }
  std::ranges::sort(nominees, before);
}

}  // namespace

/// Twice a rank's even share is nominated: parts are alike, and the choice needn't be the best.
std::vector<VertexId> rows_by_degree(const DrawnGraph& graph, const Owners& owners, Communicator& comm,
                                     Index count) {
  std::vector<Nominee> own;
  const Rank me = comm.rank();
  for (auto row = VertexId(owners.first_row(me)); row < owners.first_row(me + 1); ++row)
    own.push_back({graph.degree(row), row});
  const Index others = std::max(1, comm.size() - 1);
  keep_first(own, std::size_t((2 * count + others - 1) / others));
  std::vector<Nominee> all;
  for (const auto& bytes : comm.all_gather(Traffic::kSetup, std::as_bytes(std::span(own)))) {
    const std::size_t begin = all.size();
    all.resize(begin + bytes.size() / sizeof(Nominee));
    if (!bytes.empty()) std::memcpy(all.data() + begin, bytes.data(), bytes.size());
  }
  std::erase_if(all, [&](const Nominee& nominee) { return owners.owns(me, nominee.row); });
  keep_first(all, std::size_t(count));
  std::vector<VertexId> rows;
  for (const Nominee& nominee : all) rows.push_back(nominee.row);
  return rows;
}

RequestCounts::RequestCounts(const Owners& owners, Rank rank) : owners_(owners), rank_(rank) {
  table_.clear();
}

void RequestCounts::add(std::span<const VertexId> rows) {
  for (const VertexId row : rows) {
    if (owners_.owns(rank_, row)) continue;
    const VertexId number = table_.find_or_add(row, VertexId(counts_.size()));
    if (std::size_t(number) == counts_.size()) counts_.push_back({row, 0});
    ++counts_[std::size_t(number)].count;
  }
}

std::vector<VertexId> RequestCounts::rows() const {
  std::vector<Count> sorted = counts_;
  std::ranges::sort(sorted, [](const Count& a, const Count& b) {
    return a.count != b.count ? a.count > b.count : a.row < b.row;
  });
  std::vector<VertexId> rows;
  for (const Count& count : sorted) rows.push_back(count.row);
  return rows;
}

std::vector<VertexId> rows_by_presampling(StepSeeds& seeds, Sampler& sampler, const Owners& owners, Rank rank,
                                          std::int64_t steps, PairEnds* pairs) {
  RequestCounts counts(owners, rank);
  std::vector<VertexId> rows, edges;
  StepPairs ends;
  Batch batch;
  for (std::int64_t step = 0; step < steps; ++step) {
    seeds.of_step(step, pairs == nullptr ? rows : edges);
    if (pairs != nullptr) pairs->of_step(step, edges, Index(seeds.size(step)), ends, rows);
    sampler.sample(step, rows, batch);
    counts.add(batch.rows());
  }
  return counts.rows();
}

}  // namespace atl
