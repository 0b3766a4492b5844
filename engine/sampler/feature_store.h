// Input features of a batch's rows: own ones from memory, others' from their owners, asked for once a batch,
// with one message to each owner and one back, unless a cache has them.
//
// Of others' rows some columns may be fetched alone (ColumnChoice); the others are filled.
//
// Rows that a device finds without the host aren't copied: a batch then names them (RowSources).
//
// Ranks may hold rows packed, as sparse rows or bits: they cross and are cached so (packed_features.h), and a
// batch gets them dense, or sparse where its first layer multiplies them so.
//
// A value is the same whether it comes from the cache or from its owner. Where rows cross as bfloat16,
// others' values are rounded, and the cache holds them so; own ones never are.
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "base/reusable.h"
#include "comm/communicator.h"
#include "sampler/column_choice.h"
#include "sampler/feature_rows.h"
#include "sampler/packed_features.h"
#include "sampler/row_cache.h"
#include "sampler/row_requests.h"
#include "tensor/context.h"

namespace atl {

/// Of a rank's own rows. Views.
struct DevicePlaces {
  // (owned) the row's place in the device's memory, or kElsewhere; empty: no row lies there
  std::span<const VertexId> held{};
  bool reads_hosts = false;  // the device itself reads the others; otherwise the host gives them

  static constexpr VertexId kElsewhere = -1;
  bool empty() const { return held.empty() && !reads_hosts; }
};

/// Of a batch's rows.
struct RowSources {
  Reusable<VertexId> held;   // places in the device's memory
  Reusable<VertexId> hosts;  // own rows, from 0, that the device reads in the host's memory
  // (rows) each row's place among held, hosts and given ones; empty: they are in order
  Reusable<VertexId> order;

  Index reallocations() const { return held.reallocations() + hosts.reallocations() + order.reallocations(); }
};

enum class CachePolicy {
  kDegree,      // rows with the most neighbours (rows_by_degree())
  kPresampled,  // rows that sampling draws most often (RequestCounts)
  kLru,         // rows that were used last
};

struct FeatureStoreOptions {
  bool bfloat16 = false;  // how rows cross; otherwise as they are
  Index cache_bytes = 0;  // 0: no cache
  CachePolicy policy = CachePolicy::kDegree;
  RowRoute route{};
  std::vector<Real> fill{};  // (F) what stands for columns that aren't fetched; empty: 0
  DevicePlaces device{};     // of own rows
  bool sparse = false;       // what a batch gets of rows that are held packed; otherwise dense rows
  double entries = 0;        // of a row that is held sparse, over the whole data set
};

/// Rows that a cache of so many bytes has room for, at most those that are others': as many on each rank.
Index cache_rows(const Owners& owners, Index bytes, const RowBytes& row);

/// One per sampling thread, which makes all calls. fill_cache() and fetch() are collective, with rows or
/// without.
class FeatureStore {
 public:
  /// own: (owners.rows(rank), F) in the order of prepared rows. All arguments outlive it.
  FeatureStore(Context& ctx, const Owners& owners, Communicator& comm, const Rows& own,
               const FeatureStoreOptions& options = {});

  Index cols() const { return own_.cols(); }
  /// Rows that the cache has room for, about; the same on all ranks.
  Index cache_rows() const { return cache_rows_; }
  /// Fetches the first of `rows`, which are others' in descending order of use, until the cache is full. For
  /// policies other than kLru; before the first fetch(). Caches are of one size on all ranks.
  void fill_cache(std::span<const VertexId> rows);

  /// From here on these columns of others' rows are fetched alone; null: all. It outlives that. Not with a
  /// cache, whose rows are whole.
  void choose(const ColumnChoice* choice);

  /// out (rows, F), which grows as a Reusable does.
  void fetch(std::span<const VertexId> rows, FeatureRows& out);
  /// The same for a device: given (n, F) has those rows that it doesn't find without the host.
  void fetch(std::span<const VertexId> rows, RowSources& sources, FeatureRows& given);

  /// Of all rows so far: own ones, of these the ones in the device's memory, others' from the cache, others'
  /// from their owners.
  struct Counts {
    Index own = 0, held = 0, hits = 0, fetched = 0;
    Counts& operator+=(const Counts& b) {
      return own += b.own, held += b.held, hits += b.hits, fetched += b.fetched, *this;
    }
    Counts& operator-=(const Counts& b) {
      return own -= b.own, held -= b.held, hits -= b.hits, fetched -= b.fetched, *this;
    }
  };
  const Counts& counts() const { return counts_; }
  Index reallocations() const;

 private:
  enum class Source { kHeld, kHosts, kGiven };
  /// Where a row was found, as `found_` has it: an own row from 0 on, below that a cache's place, or nowhere.
  static constexpr Index kMissing = std::numeric_limits<Index>::min();
  static constexpr Index cached_at(VertexId place) { return -1 - Index(place); }
  static constexpr VertexId place_of(Index found) { return VertexId(-1 - found); }
  Source source_of(VertexId row) const;
  void find_here(std::span<const VertexId> rows);
  const Real* dense_row(Index found) const;
  void copy_found(MatrixView out);
  void fetch_missing();
  void answer();
  template <class T>
  void pack_columns(T* out);
  Index fetched_cols() const { return choice_ != nullptr ? choice_->chosen() : cols(); }
  void take_arrived(Index i, Real* to);
  std::span<const std::byte> kept(Index i, std::span<Real> scratch);
  void fetch_dense(std::span<const VertexId> rows, MatrixView out);
  void fetch_packed(std::span<const VertexId> rows, FeatureRows& out);
  Index entries_at(Index i) const;
  template <class Visit>
  void for_each_entry_at(Index i, Visit visit) const;
  void put_row_at(Index i, FeatureRows::Entries to) const;
  void unpack(MatrixView out);

  Context& ctx_;
  const Owners& owners_;
  const Rank rank_;
  const Rows own_;
  const bool bfloat16_;
  const std::vector<Real> fill_;  // (F) or empty
  const DevicePlaces device_;
  const bool sparse_;
  const ColumnChoice* choice_ = nullptr;  // null: all columns
  const Traffic purpose_;
  RowRequests requests_;
  Index cache_rows_ = 0;
  std::optional<RowCache> cache_;
  std::optional<PackedFeatures> packed_;  // none: rows are held dense
  Counts counts_;
  Reusable<VertexId> given_;             // rows that a device is given
  Reusable<Index> found_;                // (rows) where each is
  Reusable<VertexId> missing_, places_;  // prepared rows that aren't here, and where they stand in the batch
  Reusable<VertexId> arrived_at_;        // (rows) where a missing one stands in what arrives
  std::vector<Real> unchosen_;  // (F) of others' packed rows: `fill` where their columns aren't fetched
  Reusable<VertexId> asked_;    // own rows that others ask for
  Reusable<std::byte> outgoing_, arrived_;  // rows as they cross
};

}  // namespace atl
