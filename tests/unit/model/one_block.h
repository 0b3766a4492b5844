// Layers without a strategy: one rank whose arcs are all in one block.
#pragma once

#include "model/listed_sources.h"
#include "model/model.h"

namespace atl {

/// A single rank with one block, which has all arcs of its rows.
class OneBlock final : public Verbs {
 public:
  OneBlock() : Verbs(ctx_) {
    state_.destinations = kRows;
    state_.reduced_rows = kRows;
    block_.arcs = {kRows, kRows, offsets_, columns_, nullptr};
    block_.dst_are_sources = true;
  }
  static constexpr Index kRows = 3;
  static std::vector<Index> neighbours(Index vertex) {
    static const std::vector<Index> all[kRows] = {{1, 2}, {0}, {}};
    return all[vertex];
  }

  Gather& gather(const Rows& rows) override { return sources_.begin({{&block_, rows, 0, true, true, {}}}); }
  Gather& gather_back(const Rows& rows, MatrixView) override { return gather(rows); }
  void reduce(std::span<double>) override {}

 private:
  ListedSources sources_;
  Index offsets_[kRows + 1] = {0, 2, 3, 3};  // of neighbours()
  VertexId columns_[3] = {1, 2, 0};
  Block block_;
  ThreadPool pool_{1};
  Workspace workspace_;
  Context ctx_{Device::kCpu, &pool_, &workspace_};
};

}  // namespace atl
