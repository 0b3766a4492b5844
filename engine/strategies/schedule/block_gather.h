// A gather of one block, whose sources are here: nothing travels.
#pragma once

#include <utility>

#include "model/gather.h"

namespace atl {

class BlockGather final : public Gather {
 public:
  Gather& start(const Block& block, const Rows& rows, MatrixView d_rows) {
    ATOLL_CHECK(is_pulled_, "a gather begins before the last one has ended");
    block_ = block;
    source_ = {&block_, rows, 0, true, true, d_rows};
    is_pulled_ = false;
    return *this;
  }
  const Source* next() override { return std::exchange(is_pulled_, true) ? nullptr : &source_; }

 private:
  Block block_;
  Source source_;
  bool is_pulled_ = true;
};

}  // namespace atl
