#include "strategies/exchange/halo_gather.h"

#include <utility>

namespace atl {

Gather& HaloGather::start(const HaloBlocks& blocks, Arrival arrival) {
  ATOLL_CHECK(step_ == Step::kEnd, "a gather begins before the last one has ended");
  blocks_ = blocks;
  arrival_ = std::move(arrival);
  step_ = Step::kOwn;
  return *this;
}

/// Own rows are summed while halo rows travel: they touch none of the same memory.
const Source* HaloGather::next() {
  switch (step_) {
    case Step::kOwn:
      step_ = Step::kHalo;
      source_ = {blocks_.own, blocks_.rows, 0, true, blocks_.halo.rows() == 0, {}};
      return &source_;
    case Step::kHalo: {
      step_ = Step::kEnd;
      const Block& outer = blocks_.boundary_set->block(blocks_.epoch);
      arrival_.wait();
      if (blocks_.halo.rows() == 0) return nullptr;
      source_ = {&outer, blocks_.halo, 1, false, true, {}};
      return &source_;
    }
    case Step::kEnd:
      break;
  }
  return nullptr;
}

Gather& HaloGatherBack::start(const HaloBlocks& blocks, MatrixView d_halo, MatrixView d_rows) {
  ATOLL_CHECK(step_ == Step::kEnd, "a gather begins before the last one has ended");
  blocks_ = blocks;
  d_halo_ = d_halo;
  d_rows_ = d_rows;
  step_ = Step::kHalo;
  return *this;
}

const Source* HaloGatherBack::next() {
  const bool travels = d_rows_.cols > 0;
  switch (step_) {
    case Step::kHalo:
      step_ = Step::kOwn;
      if (blocks_.halo.rows() > 0) {
        source_ = {&blocks_.boundary_set->block(blocks_.epoch), blocks_.halo, 1, false, false, d_halo_};
        return &source_;
      }
      [[fallthrough]];
    case Step::kOwn:
      step_ = Step::kAdd;
      if (travels) ship();
      source_ = {blocks_.own, blocks_.rows, 0, true, true, d_rows_};
      return &source_;
    case Step::kAdd:
      step_ = Step::kEnd;
      if (travels) add();
      break;
    case Step::kEnd:
      break;
  }
  return nullptr;
}

}  // namespace atl
