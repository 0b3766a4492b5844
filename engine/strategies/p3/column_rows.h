// Whole rows of features, put together from columns. Each rank sends the columns that it holds to the ranks
// that ask.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "sampler/column_push.h"
#include "strategies/schedule/layerwise_inference.h"

namespace atl {

/// Used by the compute thread. Row numbers, ids and columns travel on Lane::kBulk as Traffic::kEvaluation.
class ColumnRows final : public InputRows {
 public:
  /// All arguments outlive it.
  ColumnRows(Communicator& comm, ThreadPool& pool, const HeldColumns& held)
      : comm_(comm), pool_(pool), held_(held) {}

  void fetch(const Batch& batch, Matrix& out) override;
  Index bytes() const override;

 private:
  static Message message(Rank peer, const void* data, Index bytes) {
    return {peer, static_cast<std::byte*>(const_cast<void*>(data)),
            bytes};  // outgoing messages are only read
  }

  /// Copies rows to the columns from `begin` on.
  static void put_columns(ThreadPool& pool, ConstMatrixView from, MatrixView to, Index begin) {
    constexpr Index kChunk = 256;
    pool.run((from.rows + kChunk - 1) / kChunk, [&](Index chunk, int) {
      for (Index r = chunk * kChunk; r < std::min(from.rows, (chunk + 1) * kChunk); ++r)
        std::copy_n(from.row(r), from.cols, to.row(r) + begin);
    });
  }

  void exchange_ids(std::span<const VertexId> ids);
  void swap();
  template <class Visit>
  void for_each_peer(Visit visit) const;

  Communicator& comm_;
  ThreadPool& pool_;
  const HeldColumns& held_;
  std::vector<std::int64_t> asked_;        // (members) how many rows each asks for
  Reusable<VertexId> asked_ids_;           // in the order of members
  std::vector<Matrix> answers_, arrived_;  // (members)
  std::vector<Message> sends_, receives_;
};

template <class Visit>
inline void ColumnRows::for_each_peer(Visit visit) const {
  for (int m = 0; m < held_.share.members(); ++m)
    if (m != held_.share.place) visit(m, held_.share.group[std::size_t(m)]);
}

inline void ColumnRows::swap() {
  comm_.exchange(Lane::kBulk, Traffic::kEvaluation, sends_, receives_).wait();
  sends_.clear(), receives_.clear();
}

inline void ColumnRows::exchange_ids(std::span<const VertexId> ids) {
  asked_.assign(std::size_t(held_.share.members()), 0);
  const auto mine = std::int64_t(ids.size());
  for_each_peer([&](int m, Rank peer) {
    sends_.push_back(message(peer, &mine, sizeof mine));
    receives_.push_back(message(peer, &asked_[std::size_t(m)], sizeof mine));
  });
  swap();
  VertexId* at = asked_ids_.take(std::accumulate(asked_.begin(), asked_.end(), Index(0))).data();
  for_each_peer([&](int m, Rank peer) {
    sends_.push_back(message(peer, ids.data(), 4 * mine));
    receives_.push_back(message(peer, at, 4 * asked_[std::size_t(m)]));
    at += asked_[std::size_t(m)];
  });
  swap();
}

inline void ColumnRows::fetch(const Batch& batch, Matrix& out) {
  const ColumnShare& share = held_.share;
  const auto rows = Index(batch.ids().size());
  exchange_ids(batch.ids());
  answers_.resize(asked_.size()), arrived_.resize(asked_.size());
  Index begin = 0;
  for_each_peer([&](int m, Rank peer) {
    const auto at = std::size_t(m);
    const auto ids = asked_ids_.span().subspan(std::size_t(begin), std::size_t(asked_[at]));
    answers_[at].resize(Index(ids.size()), share.count());
    unpack_rows(pool_, held_.values, ids, answers_[at]);
    begin += asked_[at];
    arrived_[at].resize(rows, share.count_of(m));
    sends_.push_back(message(peer, answers_[at].data(), answers_[at].bytes()));
    receives_.push_back(message(peer, arrived_[at].data(), arrived_[at].bytes()));
  });
  swap();
  out.resize(rows, share.whole);
  for_each_peer([&](int m, Rank) {
    put_columns(pool_, std::as_const(arrived_[std::size_t(m)]).view(), out, share.first_of(m));
  });
  Matrix& own = arrived_[std::size_t(share.place)];
  own.resize(rows, share.count());
  unpack_rows(pool_, held_.values, batch.ids(), own);
  put_columns(pool_, std::as_const(own).view(), out, share.first());
}

inline Index ColumnRows::bytes() const {
  Index sum = asked_ids_.bytes();
  for (const auto* all : {&answers_, &arrived_})
    for (const Matrix& each : *all) sum += each.held_bytes();
  return sum;
}

}  // namespace atl
