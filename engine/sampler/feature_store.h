// Input features of a batch's rows. Own rows come from memory, others from a cache or else from their owners.
// Each batch sends one message to each owner and gets one back.
//
// A step may fetch only some columns of other ranks' rows (ColumnChoice). The other columns then have the
// values of FeatureStoreOptions::fill.
//
// The host doesn't copy rows that a device finds by itself; the batch only names them (RowSources).
//
// Ranks may hold rows packed, as sparse rows or bits. They are sent and cached in that form
// (packed_features.h), and a batch gets them dense, or sparse if its first layer multiplies sparse rows.
//
// A value is the same whether it comes from the cache or from its owner. If rows are sent as bfloat16,
// others' values are rounded, in the cache too; own values never are. If ranks hold dense rows in halves, the
// cache and batches have them in halves too, and nothing is rounded a second time.
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "base/reusable.h"
#include "comm/communicator.h"
#include "sampler/column_choice.h"
#include "sampler/feature_rows.h"
#include "sampler/owners.h"
#include "sampler/packed_features.h"
#include "sampler/row_cache.h"
#include "tensor/context.h"

namespace atl {

/// Where a device finds a rank's own rows. Views.
struct DevicePlaces {
  // (owned) the row's place in the device's memory, or kElsewhere; empty: no row is there
  std::span<const VertexId> held{};
  bool reads_hosts = false;  // the device itself reads the other own rows; otherwise the host copies them

  static constexpr VertexId kElsewhere = -1;
  bool empty() const { return held.empty() && !reads_hosts; }
};

/// Where a device finds a batch's rows.
struct RowSources {
  Reusable<VertexId> held;   // places in the device's memory
  Reusable<VertexId> hosts;  // own rows, from 0, that the device reads from the host's memory
  // (rows) each row's place in the sequence held, hosts, given; empty: they are in order
  Reusable<VertexId> order;

  Index reallocations() const { return held.reallocations() + hosts.reallocations() + order.reallocations(); }
};

enum class CachePolicy {
  kDegree,      // rows with the most neighbours (rows_by_degree())
  kPresampled,  // rows that sampling draws most often (RequestCounts)
  kLru,         // rows that were used last
};

struct FeatureStoreOptions {
  bool bfloat16 = false;  // for rows on the wire; otherwise they are sent as they are
  Index cache_bytes = 0;  // 0: no cache
  CachePolicy policy = CachePolicy::kDegree;
  RowRoute route{};
  std::vector<Real> fill{};  // (F) values of columns that aren't fetched; empty: 0
  DevicePlaces device{};     // where a device finds own rows
  bool sparse = false;       // a batch gets packed rows as sparse rows; otherwise dense
  double entries = 0;        // mean number per sparse row of the whole data set
};

/// The number of rows for which a cache of `bytes` has room, but no more than other ranks own. It is the same
/// on all ranks.
Index cache_rows(const Owners& owners, Index bytes, const RowBytes& row);

/// One per sampling thread, which makes all calls. fill_cache() and fetch() are collective, even for a rank
/// without rows.
class FeatureStore {
 public:
  /// `own` is (owners.rows(rank), F), in the order of prepared rows. All arguments outlive it.
  FeatureStore(Context& ctx, const Owners& owners, Communicator& comm, const Rows& own,
               const FeatureStoreOptions& options = {});

  Index cols() const { return own_.cols(); }
  /// Approximate number of rows that the cache has room for; the same on all ranks.
  Index cache_rows() const { return cache_rows_; }
  /// Fetches rows of other ranks, which are in descending order of use, until the cache is full. Call it
  /// before the first fetch(), and not for kLru. Caches have the same size on all ranks.
  void fill_cache(std::span<const VertexId> rows);

  /// From now on only these columns of other ranks' rows are fetched; null: all. `choice` outlives its use. A
  /// cache doesn't allow this, as its rows have all columns.
  void choose(const ColumnChoice* choice);

  /// Fills out (rows, F), which grows as a Reusable does.
  void fetch(std::span<const VertexId> rows, FeatureRows& out);
  /// The same for a device. `given` (n, F) gets the rows that the device can't find by itself.
  void fetch(std::span<const VertexId> rows, RowSources& sources, FeatureRows& given);

  /// Rows so far: own ones, those of them in the device's memory, others' from the cache, and others' from
  /// their owners.
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
  /// An entry of `found_` says where a row is: an own row's number, from 0; a negative number for a place in
  /// the cache (cached_at()); or kMissing.
  static constexpr Index kMissing = std::numeric_limits<Index>::min();
  static constexpr Index cached_at(VertexId place) { return -1 - Index(place); }
  static constexpr VertexId place_of(Index found) { return VertexId(-1 - found); }
  Source source_of(VertexId row) const;
  void find_here(std::span<const VertexId> rows);
  const std::byte* dense_row(Index found) const;
  void copy_found(MatrixView out);
  void fetch_missing();
  void answer();
  template <class T>
  void pack_columns(T* out);
  Index fetched_cols() const { return choice_ != nullptr ? choice_->chosen() : cols(); }
  template <class From, class To>
  void copy_arrived(Index i, To* to) const;
  void take_arrived(Index i, MatrixView out, Index row) const;
  std::span<const std::byte> kept(Index i, MatrixView scratch);
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
  const Storage storage_;  // of dense rows
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
  Reusable<VertexId> given_;             // rows that the host gives a device
  Reusable<Index> found_;                // (rows) where each is
  Reusable<VertexId> missing_, places_;  // prepared rows that aren't here, and their places in the batch
  Reusable<VertexId> arrived_at_;        // (rows) a missing row's place among the arrived ones
  std::vector<Real> unchosen_;           // (F) for others' packed rows: `fill` in columns that aren't fetched
  Reusable<VertexId> asked_;             // own rows that other ranks ask for
  Reusable<std::byte> outgoing_, arrived_;  // rows in the form of the wire
};

}  // namespace atl
