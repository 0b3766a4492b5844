#include "dataset/arc_sorter.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "dataset/reverse_share.h"

namespace atl {
namespace {

constexpr int kUnitShift = 8;           // ids are counted in units of 256 adjacent ids
constexpr Index kBucketArcs = 1 << 22;  // each thread sorts this many in memory at a time
constexpr VertexId kBucketVertices = 1 << 22;
constexpr Index kDealBytes = 64 << 20;  // write buffers of all buckets together
constexpr Index kSortedArcs = 1 << 16;  // read at a time
constexpr Index kFixedBytes = 6 << 20;  // buffers of the files

void count(std::vector<Index>& counts, VertexId id) {
  const std::size_t unit = std::size_t(id) >> kUnitShift;
  if (unit >= counts.size()) counts.resize(unit + 1 + unit / 2);
  ++counts[unit];
}

Index count_of(const std::vector<Index>& counts, std::size_t unit) {
  return unit < counts.size() ? counts[unit] : 0;
}

/// Order-free fingerprints of all arcs and of all their reverses. They are equal exactly if the graph is
/// symmetric, but for an accident of probability 2⁻⁶⁴.
struct SymmetryCheck {
  std::uint64_t forward = 0, backward = 0;

  void add(VertexId dst, VertexId src, float weight) {
    const std::uint64_t w = mix64(std::bit_cast<std::uint32_t>(weight));
    forward += mix64((std::uint64_t(dst) << 32 | std::uint32_t(src)) ^ w);
    backward += mix64((std::uint64_t(src) << 32 | std::uint32_t(dst)) ^ w);
  }
};

ArcRecord reverse(const ArcRecord& arc) {
  return {arc.src(), arc.dst, true};
}
WeightedArcRecord reverse(const WeightedArcRecord& arc) {
  return {arc.src(), arc.dst, arc.weight, true};
}
float weight_of(const ArcRecord&) {
  return 1;
}
float weight_of(const WeightedArcRecord& arc) {
  return arc.weight;
}

/// All arcs with the same ends. Given and reversed arcs are added up separately, so that an arc stored in
/// both directions does not count twice.
struct MergedArc {
  double given_weight = 0, reversed_weight = 0;
  Index given = 0, reversed = 0;

  template <class Record>
  void add(const Record& arc) {
    (arc.reversed() ? reversed_weight : given_weight) += double(weight_of(arc));
    ++(arc.reversed() ? reversed : given);
  }
  /// Whether it counts as given, and not as the reverse of another arc.
  bool counts_as_given() const { return reversed == 0 || (given > 0 && given_weight >= reversed_weight); }
  double weight() const { return counts_as_given() ? given_weight : reversed_weight; }
};

/// A bucket's rows, and the counts made on the way.
struct SortedBucket {
  SortedRows rows;
  SymmetryCheck symmetry;
  ReverseShare reverses;
  Index duplicates = 0, self_loops = 0;
  std::optional<HeavyArc> too_heavy;

  explicit SortedBucket(Index all_arcs) : reverses(all_arcs) {}
};

/// Merges the duplicates of a sorted bucket. `all_arcs`: the number of arcs in all buckets.
template <class Record>
SortedBucket merge(const std::vector<Record>& sorted, VertexId begin, VertexId end, Index all_arcs) {
  SortedBucket bucket(all_arcs);
  bucket.rows.first = begin;
  bucket.rows.degrees.assign(std::size_t(end - begin), 0);
  bucket.rows.sources.reserve(sorted.size());
  for (std::size_t i = 0; i < sorted.size();) {
    const VertexId dst = sorted[i].dst, src = sorted[i].src();
    MergedArc arc;
    for (; i < sorted.size() && sorted[i].dst == dst && sorted[i].src() == src; ++i) arc.add(sorted[i]);
    bucket.rows.sources.push_back(src);
    ++bucket.rows.degrees[std::size_t(dst - begin)];
    const float weight = std::is_same_v<Record, WeightedArcRecord> ? float(arc.weight()) : 1.0f;
    if (std::is_same_v<Record, WeightedArcRecord>) bucket.rows.weights.push_back(weight);
    if (!std::isfinite(weight) && !bucket.too_heavy)
      bucket.too_heavy =
          arc.counts_as_given() ? HeavyArc{src, dst, arc.weight()} : HeavyArc{dst, src, arc.weight()};
    bucket.duplicates += std::max<Index>(0, arc.given - 1);
    bucket.self_loops += dst == src;
    bucket.reverses.add(dst, src);
    bucket.symmetry.add(dst, src, weight);
  }
  return bucket;
}

template <class Record>
void sort_bucket(std::vector<Record>& records, Index vertices, VertexId begin, VertexId end) {
  std::vector<Record> spare(records.size());
  radix_sort(records, spare, std::uint32_t(vertices), [](const Record& r) { return std::uint32_t(r.src()); });
  radix_sort(records, spare, std::uint32_t(end - begin),
             [begin](const Record& r) { return std::uint32_t(r.dst - begin); });
}

}  // namespace

ArcSorter::ArcSorter(std::filesystem::path folder, bool weighted)
    : folder_(std::move(folder)), weighted_(weighted), arrived_(folder_) {}

template <class Record, class Make>
void ArcSorter::append(std::size_t arcs, Make make) {
  std::vector<Record> piece;
  piece.reserve(std::min(arcs, std::size_t(kSortedArcs)));
  for (std::size_t i = 0; i < arcs; ++i) {
    piece.push_back(make(i));
    if (piece.size() < std::size_t(kSortedArcs) && i + 1 < arcs) continue;
    arrived_.append(piece.data(), Index(piece.size() * sizeof(Record)));
    piece.clear();
  }
}

void ArcSorter::add(std::span<const VertexId> src, std::span<const VertexId> dst,
                    std::span<const float> weights) {
  ATOLL_CHECK(src.size() == dst.size() && (weights.empty() || weights.size() == src.size()), "{} {} {}",
              src.size(), dst.size(), weights.size());
  given_ += Index(src.size());
  for (std::size_t i = 0; i < src.size(); ++i) {
    vertices_seen_ = std::max<Index>(vertices_seen_, Index(std::max(src[i], dst[i])) + 1);
    self_loops_given_ += src[i] == dst[i];
    count(in_counts_, dst[i]);
    count(out_counts_, src[i]);
  }
  if (weighted_) {
    append<WeightedArcRecord>(src.size(), [&](std::size_t i) {
      return WeightedArcRecord(dst[i], src[i], weights.empty() ? 1.0f : weights[i]);
    });
  } else {
    append<ArcRecord>(src.size(), [&](std::size_t i) { return ArcRecord(dst[i], src[i]); });
  }
}

std::vector<ArcSorter::Bucket> ArcSorter::buckets(Index vertices, bool symmetrise) const {
  std::vector<Bucket> all;
  Bucket open;
  const std::size_t units = (std::size_t(vertices) + (1u << kUnitShift) - 1) >> kUnitShift;
  for (std::size_t unit = 0; unit < units; ++unit) {
    const Index arcs = count_of(in_counts_, unit) + (symmetrise ? count_of(out_counts_, unit) : 0);
    const bool full = open.arcs + arcs > kBucketArcs || open.end - open.begin >= kBucketVertices;
    if (full && open.end > open.begin) {
      all.push_back(open);
      open = {open.end, open.end, open.offset + open.arcs, 0};
    }
    open.arcs += arcs;
    open.end = VertexId(std::min<Index>(vertices, Index(unit + 1) << kUnitShift));
  }
  if (open.end > open.begin) all.push_back(open);
  return all;
}

Index ArcSorter::predicted_bytes(int threads, bool symmetrise) const {
  const Index record = weighted_ ? Index(sizeof(WeightedArcRecord)) : Index(sizeof(ArcRecord));
  const Index result = weighted_ ? 8 : 4;
  std::vector<Index> sizes;
  for (const Bucket& bucket : buckets(vertices_seen_, symmetrise)) {
    sizes.push_back(bucket.arcs * (2 * record + result) + 4 * Index(bucket.end - bucket.begin));
  }
  std::sort(sizes.rbegin(), sizes.rend());
  Index sorting = 0;
  for (std::size_t i = 0; i < std::min(sizes.size(), std::size_t(threads)); ++i) sorting += sizes[i];
  const Index dealt = (symmetrise ? 2 : 1) * given_ * record;
  return std::max(sorting, std::min(kDealBytes, dealt)) + kFixedBytes;
}

/// Reads the arrived arcs once, in order, and writes each arc (and its reverse) into its bucket's part of the
/// file.
template <class Record>
void ArcSorter::deal(const Options& options, std::vector<Bucket>& all, ScratchFile& file) {
  std::vector<std::int32_t> bucket_of_unit;
  for (std::size_t b = 0; b < all.size(); ++b) {
    bucket_of_unit.resize((std::size_t(all[b].end) + (1u << kUnitShift) - 1) >> kUnitShift, std::int32_t(b));
  }
  const std::size_t capacity = std::max<std::size_t>(
      64, std::size_t(kDealBytes) / sizeof(Record) / std::max<std::size_t>(1, all.size()));
  std::vector<std::vector<Record>> waiting(all.size());
  std::vector<Index> written(all.size(), 0);
  const auto write_out = [&](std::size_t b) {
    file.write_at((all[b].offset + written[b]) * Index(sizeof(Record)), waiting[b].data(),
                  Index(waiting[b].size() * sizeof(Record)));
    written[b] += Index(waiting[b].size());
    waiting[b].clear();
  };
  const auto put = [&](const Record& arc) {
    const std::size_t b = std::size_t(bucket_of_unit[std::size_t(arc.dst) >> kUnitShift]);
    waiting[b].push_back(arc);
    if (waiting[b].size() == capacity) write_out(b);
  };
  std::vector<Record> piece(static_cast<std::size_t>(kSortedArcs));
  for (Index begin = 0; begin < given_; begin += kSortedArcs) {
    const Index arcs = std::min(kSortedArcs, given_ - begin);
    arrived_.read_at(begin * Index(sizeof(Record)), piece.data(), arcs * Index(sizeof(Record)));
    for (const Record& arc : std::span(piece).first(std::size_t(arcs))) {
      if (arc.src() == arc.dst && options.remove_self_loops) continue;
      put(arc);
      if (options.symmetrise && arc.src() != arc.dst) put(reverse(arc));
    }
  }
  for (std::size_t b = 0; b < all.size(); ++b) {
    write_out(b);
    all[b].arcs = written[b];  // fewer than reserved if self-loops were left out
  }
}

template <class Record>
ArcTotals ArcSorter::sort_records(const Options& options, ThreadPool& pool,
                                  const std::function<void(const SortedRows&)>& take) {
  ArcTotals totals;
  totals.given = given_;
  totals.self_loops_removed = options.remove_self_loops ? self_loops_given_ : 0;
  std::vector<Bucket> all = buckets(options.vertices, options.symmetrise);
  ScratchFile dealt(folder_);
  deal<Record>(options, all, dealt);
  arrived_.clear();
  const Index all_arcs = (options.symmetrise ? 2 : 1) * given_;
  std::vector<SortedBucket> wave(std::size_t(pool.threads()), SortedBucket(all_arcs));
  SymmetryCheck symmetry;
  ReverseShare reverses(all_arcs);
  for (std::size_t first = 0; first < all.size(); first += wave.size()) {
    const std::size_t together = std::min(wave.size(), all.size() - first);
    pool.run(Index(together), [&](Index chunk, int) {
      const Bucket& bucket = all[first + std::size_t(chunk)];
      std::vector<Record> records(static_cast<std::size_t>(bucket.arcs));
      dealt.read_at(bucket.offset * Index(sizeof(Record)), records.data(),
                    bucket.arcs * Index(sizeof(Record)));
      sort_bucket(records, options.vertices, bucket.begin, bucket.end);
      wave[std::size_t(chunk)] = merge(records, bucket.begin, bucket.end, all_arcs);
    });
    for (SortedBucket& bucket : std::span(wave).first(together)) {
      totals.arcs += Index(bucket.rows.sources.size());
      totals.duplicates += bucket.duplicates;
      totals.self_loops += bucket.self_loops;
      symmetry.forward += bucket.symmetry.forward;
      symmetry.backward += bucket.symmetry.backward;
      reverses.join(bucket.reverses);
      if (!totals.too_heavy) totals.too_heavy = bucket.too_heavy;
      take(bucket.rows);
      bucket = SortedBucket(all_arcs);
    }
  }
  totals.symmetric = symmetry.forward == symmetry.backward;
  totals.reverse_share = reverses.share();
  return totals;
}

ArcTotals ArcSorter::sort(const Options& options, ThreadPool& pool,
                          const std::function<void(const SortedRows&)>& take) {
  ATOLL_CHECK(options.vertices >= vertices_seen_, "{} of {}", vertices_seen_, options.vertices);
  arrived_.flush();
  return weighted_ ? sort_records<WeightedArcRecord>(options, pool, take)
                   : sort_records<ArcRecord>(options, pool, take);
}

}  // namespace atl
