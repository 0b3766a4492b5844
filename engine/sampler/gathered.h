// Gathers elements of all ranks on every rank, in rank order, for samplers that draw together. Called by the
// thread that samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/random.h"
#include "base/reusable.h"
#include "comm/communicator.h"
#include "sampler/owners.h"

namespace atl {

/// Exchanges bytes in the caller's memory.
class GatheredBytes {
 public:
  explicit GatheredBytes(Communicator& comm);
  /// Announces this rank's `own` bytes, fills begins(), and returns the number of bytes of all ranks.
  /// Collective.
  Index begin(Index own);
  /// (ranks + 1) the begin of each rank's bytes.
  std::span<const Index> begins() const { return begins_; }
  /// Fills `all`, which has the size that begin() returned; this rank's bytes are in place already.
  void fill(std::byte* all);

 private:
  Communicator& comm_;
  std::vector<Index> begins_;
  std::vector<std::int64_t> sizes_;
  std::vector<Message> sends_, receives_;
};

/// Calls `sent` for the messages that go if each of `ranks` gives `width` bytes for each of its rows.
void gathered_bytes(std::span<const VertexId> rows, Index width, const Owners& ranks,
                    FunctionRef<void(Rank from, Rank to, Index bytes)> sent);

template <class T>
class AllGathered {
 public:
  explicit AllGathered(Communicator& comm) : comm_(comm), bytes_(comm) {}
  /// Collective. Valid until the next call.
  std::span<const T> gather(std::span<const T> own) {
    const Index all = bytes_.begin(Index(own.size_bytes())) / Index(sizeof(T));
    const auto to = all_.take(all);
    const auto first = std::size_t(bytes_.begins()[std::size_t(comm_.rank())]) / sizeof(T);
    std::copy(own.begin(), own.end(), to.begin() + std::ptrdiff_t(first));
    bytes_.fill(reinterpret_cast<std::byte*>(to.data()));
    return to;
  }
  Index reallocations() const { return all_.reallocations(); }
  /// Calls `sent` for the messages that go if each of `ranks` gives an element for each of its rows.
  static void count_sent(std::span<const VertexId> rows, const Owners& ranks,
                         FunctionRef<void(Rank from, Rank to, Index bytes)> sent) {
    gathered_bytes(rows, Index(sizeof(T)), ranks, sent);
  }

 private:
  Communicator& comm_;
  GatheredBytes bytes_;
  Reusable<T> all_;
};

// Draws vertices of the whole graph with given probabilities, independently and with replacement. Draw k of a
// step depends on the step's key and k alone. The owner of the drawn vertex finds it. A rank holds the
// running sums of its own vertices' weights, and one sum per part.

/// One per sampling thread. References outlive it.
class WeightedDraws {
 public:
  struct Drawn {
    VertexId row;
    std::int32_t times;
    double probability;  // that one draw takes the row
  };
  /// `weights` (owned): one for each of this rank's rows, 0 or more. Collective.
  WeightedDraws(const Owners& owners, Communicator& comm, const std::vector<double>& weights);

  /// The drawn vertices, each once, ascending; empty if all weights are 0. The same on all ranks; valid until
  /// the next call. Collective.
  std::span<const Drawn> draw(const Draws& draws, Index count);
  /// Calls `sent` for the messages that draw() sends if `ranks` draw together and draw these rows.
  static void count_sent(std::span<const VertexId> rows, const Owners& ranks,
                         FunctionRef<void(Rank from, Rank to, Index bytes)> sent) {
    AllGathered<Drawn>::count_sent(rows, ranks, sent);
  }
  /// The probability that one draw takes this own row.
  double probability(VertexId row) const;
  Index reallocations() const { return own_.reallocations() + gathered_.reallocations(); }

 private:
  const Owners& owners_;
  const Index first_;              // the first own row
  std::vector<double> sums_;       // (owned) running sums of a part's weights, the row's own included
  std::vector<double> part_sums_;  // (parts + 1)
  Reusable<Drawn> own_;
  AllGathered<Drawn> gathered_;
};

}  // namespace atl
