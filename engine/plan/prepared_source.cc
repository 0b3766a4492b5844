// The prepared graph as what a plan draws batches from.
#include <limits>

#include "plan/batch_source.h"
#include "train/rank_data.h"

namespace atl {
namespace {

class PreparedSource final : public BatchSource {
 public:
  PreparedSource(const Job& job, const PreparedGraph& prepared)
      : prepared_(prepared),
        inductive_(job.training.setting == Setting::kInductive),
        by_id_(graph_transforms(job).by_id),
        graph_(prepared.graph()) {}

  std::span<const Index> part_offsets() const override { return prepared_.part_offsets(); }
  std::span<const VertexId> ids() const override { return prepared_.ids(); }
  std::span<const Index> arc_offsets() const override {
    return {graph_.offsets, std::size_t(graph_.rows) + 1};
  }
  bool weighted() const override { return graph_.weights != nullptr; }
  std::span<const VertexId> sources(Index row, std::vector<VertexId>&) const override {
    return {graph_.columns + graph_.offsets[row], std::size_t(graph_.degree(row))};
  }
  std::unique_ptr<Structure> structure(ThreadPool& pool) const override {
    return mapped_structure(drawn_graph(prepared_, inductive_, by_id_), pool);
  }
  Index most_slabs() const override { return std::numeric_limits<Index>::max(); }

 private:
  const PreparedGraph& prepared_;
  const bool inductive_, by_id_;
  const CsrView graph_;
};

}  // namespace

std::unique_ptr<BatchSource> batch_source(const Job& job, const PreparedGraph& prepared) {
  return std::make_unique<PreparedSource>(job, prepared);
}

}  // namespace atl
