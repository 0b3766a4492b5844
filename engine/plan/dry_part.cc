#include "plan/dry_part.h"

#include <algorithm>

namespace atl {

namespace {

std::vector<PeerRows> peer_rows(std::span<const PeerShape> peers) {
  std::vector<PeerRows> rows;
  Index received = 0;
  for (const PeerShape& p : peers) {
    rows.push_back({p.peer, std::vector<VertexId>(std::size_t(p.send)), received, p.receive, 0, p.send_slices,
                    p.receive_slices});
    received += p.receive;
  }
  return rows;
}

}  // namespace

DryPart::DryPart(const RankShape& shape, const FeatureShape& features, bool halo_features) {
  graph_.rank = shape.rank;
  graph_.owned = shape.owned;
  graph_.halo = shape.halo;
  graph_.ids.resize(std::size_t(shape.owned + shape.halo));
  graph_.peers = peer_rows(shape.peers);
  const std::span<const VertexId> ids(graph_.ids);
  part_.graph = &graph_;
  part_.own.arcs = csr(shape.owned, shape.owned, shape.own_arcs);
  part_.own.transpose = part_.own.arcs;
  part_.own.dst_ids = part_.own.src_ids = ids.first(std::size_t(shape.owned));
  part_.own.dst_are_sources = true;
  part_.ids = part_.own.dst_ids;
  if (shape.features) part_.features = rows(shape.owned, features, features_);
  cut_chunks(shape);
  cut_near(shape);
  if (shape.copies > 0) row_weights_.resize(std::size_t(shape.owned));
  part_.row_weights = row_weights_;
  if (shape.by_owner) {
    read_by_owner(shape, features, halo_features);
    return;
  }
  part_.outer.dst_ids = part_.own.dst_ids;
  part_.outer.arcs = csr(shape.owned, shape.halo, shape.outer_arcs);
  part_.outer.transpose = csr(shape.halo, shape.owned, shape.outer_arcs);
  part_.outer.src_ids = ids.subspan(std::size_t(shape.owned));
  if (halo_features && shape.features) part_.halo_features = rows(shape.halo, features, halo_features_);
  if (halo_features && features.packed() && !shape.near.empty() && shape.near.back().rows < shape.owned)
    part_.computed_features = rows(shape.near.back().rows, features, computed_features_);
}

void DryPart::cut_chunks(const RankShape& shape) {
  chunk_reads_.reserve(shape.chunks.size()), chunk_runs_.reserve(shape.chunks.size());
  graph_.slices.assign(1, 0);
  for (const ChunkShape& each : shape.chunks) {
    const std::vector<VertexId>& reads = chunk_reads_.emplace_back(std::size_t(each.reads));
    chunk_runs_.push_back({each.reads, 0});
    ChunkRows& chunk = part_.chunks.emplace_back();
    chunk.begin = graph_.slices.back(), chunk.end = chunk.begin + each.rows;
    chunk.own.arcs = csr(each.rows, each.rows, each.own_arcs);
    chunk.own.transpose = chunk.own.arcs;
    chunk.own.dst_ids = chunk.own.src_ids =
        part_.ids.subspan(std::size_t(chunk.begin), std::size_t(each.rows));
    chunk.own.dst_are_sources = true;
    chunk.outer.arcs = csr(each.rows, each.reads, each.outer_arcs);
    chunk.outer.transpose = csr(each.reads, each.rows, each.outer_arcs);
    chunk.outer.dst_ids = chunk.own.dst_ids;
    chunk.outer.src_ids = chunk.reads = reads;
    chunk.runs = std::span(&chunk_runs_.back(), each.reads > 0 ? 1 : 0);
    graph_.slices.push_back(chunk.end);
  }
}

void DryPart::read_by_owner(const RankShape& shape, const FeatureShape& features, bool halo_features) {
  owned_by_rank_ = shape.owned_by_rank;
  part_.owned_by_rank = owned_by_rank_;
  owners_ids_.resize(std::size_t(shape.destinations));
  for (const SourceShape& from : shape.sources) {
    const std::vector<VertexId>& rows_read = owners_rows_.emplace_back(std::size_t(from.rows));
    OwnerRows& owner = part_.owners.emplace_back(OwnerRows{from.owner, rows_read, {}, {}});
    owner.block.arcs = csr(shape.destinations, from.rows, from.arcs);
    owner.block.transpose = csr(from.rows, shape.destinations, from.arcs);
    owner.block.dst_ids = owners_ids_;
    owner.block.src_ids = rows_read;
    if (halo_features) owner.features = rows(from.rows, features, owners_features_.emplace_back());
  }
}

void DryPart::cut_near(const RankShape& shape) {
  const std::span<const VertexId> ids(graph_.ids);
  for (const NearShape& each : shape.near) {
    const std::vector<PeerRows>& peers = near_peers_.emplace_back(peer_rows(each.peers));
    NearRows& near = part_.near.emplace_back(NearRows{each.rows, each.sources, each.halo, {}, {}, peers});
    near.own.arcs = csr(each.rows, each.sources, each.own_arcs);
    near.own.transpose = csr(each.sources, each.rows, each.own_arcs);
    near.outer.arcs = csr(each.rows, each.halo, each.outer_arcs);
    near.outer.transpose = csr(each.halo, each.rows, each.outer_arcs);
    near.own.dst_ids = near.outer.dst_ids = ids.first(std::size_t(each.rows));
    near.own.src_ids = ids.first(std::size_t(each.sources));
    near.outer.src_ids = ids.subspan(std::size_t(shape.owned), std::size_t(each.halo));
    near.own.dst_are_sources = true;
  }
}

CsrView DryPart::csr(Index rows, Index cols, Index arcs) {
  const Allocation claimed = dry_memory().allocate((std::size_t(rows) + 1) * sizeof(Index));
  auto* memory = static_cast<Index*>(claimed.data);
  offsets_.emplace_back(memory, ReleaseMemory{Device::kDry});
  memory[rows] = rows == 0 ? 0 : arcs;
  return {rows, cols, memory, nullptr, nullptr};
}

Rows DryPart::rows(Index count, const FeatureShape& shape, Features& features) {
  const auto nonzeros = Index(double(count) * shape.nonzeros_per_row);
  switch (shape.form) {
    case FeatureForm::kDense:
      features.dense.resize(1, reals_of(count * shape.columns, shape.storage), Device::kDry);
      return ConstMatrixView(features.dense.data(), count, shape.columns, shape.storage);
    case FeatureForm::kSparse:
      features.sparse = {csr(count, shape.columns, nonzeros), csr(shape.columns, count, nonzeros)};
      return &features.sparse;
    case FeatureForm::kBits:
      features.bits = {{count, shape.columns}, {shape.columns, count}};
      return &features.bits;
  }
  ATOLL_CHECK(false, "features in form {}", int(shape.form));
}

}  // namespace atl
