// A gather whose blocks a test lists.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "model/gather.h"

namespace atl {

class ListedSources final : public Gather {
 public:
  /// at_end is called when the last block has been used.
  Gather& begin(std::vector<Source> sources, std::function<void()> at_end = {}) {
    ATOLL_CHECK(next_ == sources_.size(), "a gather begins before the last one has ended");
    sources_ = std::move(sources);
    sources_.back().last = true;
    next_ = 0;
    at_end_ = std::move(at_end);
    return *this;
  }
  const Source* next() override {
    if (next_ < sources_.size()) return &sources_[next_++];
    if (at_end_) at_end_();
    return nullptr;
  }

 private:
  std::vector<Source> sources_;
  std::size_t next_ = 0;
  std::function<void()> at_end_;
};

}  // namespace atl
