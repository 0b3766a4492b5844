// Sorts any number of arcs into rows by destination, with bounded memory. Arcs go to a temporary file as they
// come and are dealt into buckets of neighbouring destinations; then each bucket is sorted in memory, several
// at a time. The result does not depend on the number of threads.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "base/types.h"
#include "dataset/format/mapped_file.h"

namespace atl {

/// One arc while it is sorted: ordered by destination, then source.
struct ArcRecord {
  VertexId dst = 0;
  std::uint32_t tagged_src = 0;  // the top bit marks an arc made by symmetrising

  ArcRecord() = default;
  ArcRecord(VertexId dst_, VertexId src_, bool reversed = false)
      : dst(dst_), tagged_src(std::uint32_t(src_) | (reversed ? 1u << 31 : 0u)) {}
  VertexId src() const { return VertexId(tagged_src & 0x7fffffffu); }
  bool reversed() const { return tagged_src >> 31 != 0; }
};

struct WeightedArcRecord : ArcRecord {
  float weight = 1;

  WeightedArcRecord() = default;
  WeightedArcRecord(VertexId dst_, VertexId src_, float weight_, bool reversed = false)
      : ArcRecord(dst_, src_, reversed), weight(weight_) {}
};

/// Rows `first` … first + degrees.size() − 1 of the result, with sources ascending in each row and without
/// duplicates.
struct SortedRows {
  VertexId first = 0;
  std::vector<std::int32_t> degrees;
  std::vector<VertexId> sources;
  std::vector<float> weights;  // empty: unweighted
};

/// An arc that was given several times, and the sum of its weights.
struct HeavyArc {
  VertexId src = 0, dst = 0;  // as given
  double weight = 0;
};

/// Counts made while sorting.
struct ArcTotals {
  Index given = 0;       // before anything was removed or added
  Index arcs = 0;        // in the result
  Index duplicates = 0;  // arcs removed because they were given before
  Index self_loops = 0;  // in the result
  Index self_loops_removed = 0;
  bool symmetric = false;
  double reverse_share = 1;           // share of arcs in the result whose reverse is there too
  std::optional<HeavyArc> too_heavy;  // the first arc, if any, whose weights add up beyond float32
};

class ArcSorter {
 public:
  /// Temporary files are in `folder`, and are gone after sort() or with the object.
  ArcSorter(std::filesystem::path folder, bool weighted);

  /// All spans have the same length, but `weights` may be empty. The caller has checked that ids are in 0 …
  /// 2³¹ − 2.
  void add(std::span<const VertexId> src, std::span<const VertexId> dst, std::span<const float> weights);

  /// One past the largest id so far.
  Index vertices_seen() const { return vertices_seen_; }
  Index given() const { return given_; }

  /// Memory in bytes that sort() will need in addition to what is held already.
  Index predicted_bytes(int threads, bool symmetrise) const;

  struct Options {
    Index vertices = 0;  // at least vertices_seen()
    bool symmetrise = false;
    bool remove_self_loops = false;
  };
  /// Calls `take` with all rows 0 … vertices − 1 in order, from this thread. Duplicate arcs become one with
  /// the sum of their weights; if a sum is beyond float32 the totals say so. When symmetrising, an arc whose
  /// reverse was given too keeps the larger weight. Call once.
  ArcTotals sort(const Options& options, ThreadPool& pool,
                 const std::function<void(const SortedRows&)>& take);

 private:
  struct Bucket {
    VertexId begin = 0, end = 0;  // destinations
    Index offset = 0, arcs = 0;   // in the bucket file
  };
  template <class Record, class Make>
  void append(std::size_t arcs, Make make);
  template <class Record>
  ArcTotals sort_records(const Options& options, ThreadPool& pool,
                         const std::function<void(const SortedRows&)>& take);
  template <class Record>
  void deal(const Options& options, std::vector<Bucket>& buckets, ScratchFile& file);
  std::vector<Bucket> buckets(Index vertices, bool symmetrise) const;

  std::filesystem::path folder_;
  bool weighted_;
  ScratchFile arrived_;
  Index given_ = 0, self_loops_given_ = 0, vertices_seen_ = 0;
  std::vector<Index> in_counts_,
      out_counts_;  // numbers of arcs by destination and by source, per unit of neighbouring ids
};

/// Sorts by `field(record)`, a number below `limit`, in stable counting passes, least significant digits
/// first. `spare` has the same length; its contents are undefined afterwards.
template <class Record, class Field>
void radix_sort(std::vector<Record>& records, std::vector<Record>& spare, std::uint32_t limit, Field field) {
  constexpr int kDigitBits = 11;
  const int bits = int(std::bit_width(limit));
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    std::array<Index, 1 << kDigitBits> next{};
    const std::uint32_t mask = (1u << kDigitBits) - 1;
    for (const Record& record : records) ++next[(field(record) >> shift) & mask];
    Index sum = 0;
    for (Index& place : next) sum += std::exchange(place, sum);
    for (const Record& record : records) spare[std::size_t(next[(field(record) >> shift) & mask]++)] = record;
    records.swap(spare);
  }
}

}  // namespace atl
