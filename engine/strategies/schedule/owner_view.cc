#include "strategies/schedule/owner_view.h"

#include <algorithm>
#include <utility>

#include "job/strategies/whole_blocks.h"
#include "partition/prepared_graph.h"
#include "strategies/schedule/rows.h"
#include "tensor/copies.h"

namespace atl {
namespace {

/// The graph that is trained on, and which rank holds which of its rows.
class Held {
 public:
  Held(const PreparedGraph& prepared, const LocalizeOptions& options)
      : csr(options.induced_on.empty() ? prepared.graph() : prepared.induced_graph()),
        ids(prepared.ids()),
        prepared_(prepared),
        options_(options) {}

  /// A rank's prepared rows are begin … end − 1; holds() tells which of them it holds.
  Index begin(Rank rank) const { return prepared_.part_offsets()[part(rank)]; }
  Index end(Rank rank) const { return prepared_.part_offsets()[part(rank) + 1]; }
  bool holds(Index row) const {
    return options_.induced_on.empty() || options_.induced_on[ids[std::size_t(row)]];
  }
  Index count(Index begin, Index end) const {
    if (options_.induced_on.empty()) return end - begin;
    Index held = 0;
    for (Index row = begin; row < end; ++row) held += holds(row) ? 1 : 0;
    return held;
  }

  const CsrView csr;
  const std::span<const VertexId> ids;

 private:
  std::size_t part(Rank rank) const { return std::size_t(options_.ranks.part_of(rank)); }
  const PreparedGraph& prepared_;
  const LocalizeOptions& options_;
};

/// Calls visit(arc) for the row's arcs from columns begin … end − 1, which are adjacent.
template <class F>
void for_each_arc(const CsrView& csr, Index row, Index begin, Index end, F&& visit) {
  const VertexId* last = csr.columns + csr.offsets[row + 1];
  const VertexId* at = std::lower_bound(csr.columns + csr.offsets[row], last, begin);
  for (; at != last && *at < end; ++at) visit(Index(at - csr.columns));
}

/// Prepared rows of `owner` that any of `rows` reads, ascending.
std::vector<VertexId> read_by(const Held& held, std::span<const Index> rows, Rank owner) {
  std::vector<VertexId> read;
  for (const Index row : rows)
    for_each_arc(held.csr, row, held.begin(owner), held.end(owner),
                 [&](Index arc) { read.push_back(held.csr.columns[arc]); });
  std::ranges::sort(read);
  read.erase(std::unique(read.begin(), read.end()), read.end());
  return read;
}

Csr arcs_between(const Held& held, std::span<const Index> rows, Rank owner, std::span<const VertexId> read) {
  Csr arcs;
  arcs.rows = Index(rows.size());
  arcs.cols = Index(read.size());
  arcs.offsets.reserve(rows.size() + 1);
  for (const Index row : rows) {
    for_each_arc(held.csr, row, held.begin(owner), held.end(owner), [&](Index arc) {
      const auto place = std::ranges::lower_bound(read, held.csr.columns[arc]);
      arcs.columns.push_back(VertexId(place - read.begin()));
      if (held.csr.weights != nullptr) arcs.weights.push_back(held.csr.weights[arc]);
    });
    arcs.offsets.push_back(arcs.arcs());
  }
  arcs.columns.shrink_to_fit();
  arcs.weights.shrink_to_fit();
  return arcs;
}

SourceBlock block_of(const Held& held, const LocalizeOptions& options, std::span<const Index> rows,
                     Rank owner) {
  const std::vector<VertexId> read = read_by(held, rows, owner);
  SourceBlock block;
  block.owner = owner;
  Index before = 0, at = held.begin(owner);
  for (const VertexId row : read) {
    before += held.count(at, row);
    at = row;
    block.rows.push_back(VertexId(before));
    block.ids.push_back(held.ids[std::size_t(row)]);
    if (options.normalisation == Normalisation::kSymmetric)
      block.scale.push_back(src_factor(options.normalisation, degree_of(held.csr, row)));
  }
  block.arcs = arcs_between(held, rows, owner, read);
  Transpose back = transpose(block.arcs.view(), options.attention);
  block.transpose = std::move(back.csr);
  block.arc = std::move(back.arc_of);
  return block;
}

template <class T>
const T* data_or_null(const std::vector<T>& values) {
  return values.empty() ? nullptr : values.data();
}

/// `options` as for localize().
SourceBlocks source_blocks(const PreparedGraph& graph, const LocalizeOptions& options,
                           std::span<const Rank> destinations, std::span<const Rank> sources) {
  const Held held(graph, options);
  SourceBlocks out;
  std::vector<Index> rows;
  for (const Rank rank : destinations)
    for (Index row = held.begin(rank); row < held.end(rank); ++row)
      if (held.holds(row)) rows.push_back(row);
  for (const Index row : rows) {
    out.ids.push_back(held.ids[std::size_t(row)]);
    if (options.normalisation != Normalisation::kSum)
      out.scale.push_back(dst_factor(options.normalisation, degree_of(held.csr, row)));
  }
  for (const Rank owner : sources) {
    SourceBlock block = block_of(held, options, rows, owner);
    if (!block.rows.empty()) out.blocks.push_back(std::move(block));
  }
  return out;
}

Block view_of(const SourceBlocks& all, const SourceBlock& from) {
  Block block;
  block.arcs = from.arcs.view();
  block.transpose = from.transpose.view();
  block.transpose_arc = data_or_null(from.arc);
  block.dst_scale = data_or_null(all.scale);
  block.src_scale = data_or_null(from.scale);
  block.dst_ids = all.ids;
  block.src_ids = from.ids;
  return block;
}

template <class T>
Index bytes_of(const std::vector<T>& values) {
  return Index(values.size() * sizeof(T));
}

}  // namespace

OwnerSizes::OwnerSizes(const SourceBlocks& built, std::vector<Index> owned_by_rank, Replaces replaces,
                       MakeOverOwners make)
    : destinations_(Index(built.ids.size())),
      owned_by_rank_(std::move(owned_by_rank)),
      replaces_(replaces),
      make_(make),
      bytes_(bytes_of(built.ids) + bytes_of(built.scale)) {
  for (const SourceBlock& from : built.blocks) {
    owners_.push_back({from.owner, Index(from.rows.size()), from.arcs.arcs()});
    bytes_ += bytes_of(from.rows) + bytes_of(from.ids) + bytes_of(from.scale) + bytes_of(from.arc) +
              from.arcs.bytes() + from.transpose.bytes();
  }
}

std::vector<Index> OwnerSizes::reads() const {
  std::vector<Index> rows;
  for (const Owner& each : owners_) rows.push_back(each.rows);
  return rows;
}

std::unique_ptr<PartView> OwnerSizes::dry(const LocalGraph&, DryArcs arcs) const {
  return std::make_unique<OwnerView>(*this, arcs);
}

OwnerView::OwnerView(const ViewInput& in, MakeOverOwners make) {
  const CagnetGrid grid = cagnet_grid(in.job.strategy.options, in.prepared.parts());
  const std::vector<Rank> aggregates = grid.row_ranks(in.rank);
  arrays_ = source_blocks(in.prepared, in.options, aggregates, grid.sources(in.rank));
  for (const SourceBlock& from : arrays_.blocks)
    blocks_.owners.push_back({from.owner, from.rows, view_of(arrays_, from)});
  blocks_.owned_by_rank = rows_by_rank(in.prepared, in.options);
  // Where several ranks aggregate for each other, own rows arrive like those of other ranks.
  const Replaces replaces = aggregates.size() > 1 ? Replaces::kBoth : Replaces::kOuter;
  sizes_ = std::make_shared<const OwnerSizes>(arrays_, blocks_.owned_by_rank, replaces, make);
}

OwnerView::OwnerView(const OwnerSizes& sizes, DryArcs arcs)
    : sizes_(std::make_shared<const OwnerSizes>(sizes)) {
  blocks_.owned_by_rank = sizes.owned_by_rank_;
  arrays_.ids.resize(std::size_t(sizes.destinations_));
  arrays_.blocks.resize(sizes.owners_.size());
  for (std::size_t i = 0; i < arrays_.blocks.size(); ++i) {
    const OwnerSizes::Owner& size = sizes.owners_[i];
    SourceBlock& from = arrays_.blocks[i];
    from.rows.resize(std::size_t(size.rows));
    OwnerRows& owner = blocks_.owners.emplace_back(OwnerRows{size.rank, from.rows, {}});
    owner.block.arcs = arcs(sizes.destinations_, size.rows, size.arcs);
    owner.block.transpose = arcs(size.rows, sizes.destinations_, size.arcs);
    owner.block.dst_ids = arrays_.ids;
    owner.block.src_ids = from.rows;
  }
}

std::unique_ptr<Schedule> OwnerView::schedule(const ScheduleInput& in) const {
  return sizes_->make_(in, blocks_);
}

void OwnerView::place(DeviceCopies& copies, FunctionRef<Block(const Block& host)> placed) {
  for (OwnerRows& each : blocks_.owners) {
    each.rows = copies.of(each.rows);
    each.block = placed(each.block);
  }
}

std::vector<std::span<const VertexId>> OwnerView::reads() const {
  std::vector<std::span<const VertexId>> all;
  for (const SourceBlock& each : arrays_.blocks) all.emplace_back(each.ids);
  return all;
}

std::unique_ptr<Schedule> all_blocks_full_batch(const ScheduleInput& in, const OwnerBlocks& blocks) {
  return full_batch_over(in, [&](std::vector<ExchangedLayer> layers) {
    return make_cagnet_exchange(in.ctx, in.comm, in.holding.part(), blocks, std::move(layers),
                                cagnet_grid(in.job.strategy.options, in.comm.size()).replication,
                                in.job.wire());
  });
}

}  // namespace atl
