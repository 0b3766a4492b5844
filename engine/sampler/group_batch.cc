#include "sampler/group_batch.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace atl {
namespace {

/// Reads or skips arrays that are stored one after the other without alignment.
class Reader {
 public:
  explicit Reader(const std::byte* at) : at_(at) {}
  template <class T>
  T next() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  void skip(Index bytes) { at_ += bytes; }

 private:
  const std::byte* at_;
};

class Writer {
 public:
  explicit Writer(std::byte* at) : at_(at) {}
  template <class T>
  void put(const T* values, Index count) {
    if (count == 0) return;
    std::memcpy(at_, values, std::size_t(count) * sizeof(T));
    at_ += std::size_t(count) * sizeof(T);
  }

 private:
  std::byte* at_;
};

}  // namespace

void PushedSizes::of(const Batch& batch, int hops, std::vector<std::int64_t>& values) {
  values.clear();
  for (int set = 0; set <= hops; ++set) values.push_back(batch.input_rows(hops - set));
  for (int hop = 0; hop < hops; ++hop) values.push_back(batch.block(hop).arcs.arcs());
  for (int hop = 0; hop < hops; ++hop) values.push_back(batch.block(hop).arcs.weights != nullptr ? 1 : 0);
}

Index GroupBatch::pushed_bytes(const GroupBatchOptions& o, const PushedSizes& sizes) {
  Index bytes = 0;
  for (int hop = 0; hop < o.hops; ++hop)
    bytes += 4 * sizes.destinations(hop) + sizes.arcs(hop) * (sizes.weighted(hop) ? 8 : 4);
  if (o.scales_destinations()) bytes += Index(sizeof(Real)) * sizes.destinations(0);
  if (o.scales_sources()) bytes += Index(sizeof(Real)) * sizes.all_rows();
  return bytes;
}

void GroupBatch::pack(const GroupBatchOptions& o, const Batch& batch, std::byte* to) {
  Writer writer(to);
  for (int hop = 0; hop < o.hops; ++hop) {
    const CsrView arcs = batch.block(hop).arcs;
    for (Index d = 0; d < arcs.rows; ++d) {
      const auto degree = std::uint32_t(arcs.degree(d));
      writer.put(&degree, 1);
    }
    writer.put(arcs.columns, arcs.arcs());
    if (arcs.weights != nullptr) writer.put(arcs.weights, arcs.arcs());
  }
  if (o.scales_destinations()) writer.put(batch.block(0).dst_scale, batch.output_rows(0));
  if (o.scales_sources()) writer.put(batch.src_scales().data(), Index(batch.rows().size()));
}

void GroupBatch::shape(const GroupBatchOptions& options, std::span<const std::int64_t> sizes, int place) {
  options_ = options;
  sizes_.assign(sizes.begin(), sizes.end());
  members_ = int(sizes.size() / PushedSizes::length(options.hops));
  place_ = place;
  lay_out_rows();
  layers_.resize(std::size_t(options.hops));
  for (int hop = 0; hop < options.hops; ++hop) {
    Layer& layer = layers_[std::size_t(hop)];
    Index arcs = 0;
    layer.weighted = false;
    for (int m = 0; m < members_; ++m) {
      arcs += sizes_of(m).arcs(hop);
      layer.weighted = layer.weighted || sizes_of(m).weighted(hop);
    }
    const auto offsets = layer.offsets.take(destinations(hop) + 1);
    std::ranges::fill(offsets, 0);
    offsets.back() = destinations(hop) == 0 ? 0 : arcs;
    layer.columns.take(arcs);
    layer.weights.take(layer.weighted ? arcs : 0);
    if (!options.transposed) continue;
    const auto transposed = layer.transpose.offsets.take(sources(hop) + 1);
    std::ranges::fill(transposed, 0);
    transposed.back() = sources(hop) == 0 ? 0 : arcs;
  }
  dst_scale_.take(options.scales_destinations() ? destinations(0) : 0);
  src_scale_.take(options.scales_sources() ? all_rows() : 0);
}

void GroupBatch::lay_out_rows() {
  shells_.assign(std::size_t(options_.hops + 1) * std::size_t(members_ + 1), 0);
  set_begin_.assign(1, 0);
  Index at = 0;
  for (int set = 0; set <= options_.hops; ++set) {
    for (int m = 0; m < members_; ++m) {
      shell_begin(set, m) = at;
      at += sizes_of(m).rows(set) - (set > 0 ? sizes_of(m).rows(set - 1) : 0);
    }
    shell_begin(set, members_) = at;
    set_begin_.push_back(at);
  }
  ids_.take(at);
}

/// Computes the number that each row of a member's batch has in the group's batch.
void GroupBatch::number_rows(int member) {
  const PushedSizes sizes = sizes_of(member);
  const auto numbers = numbers_.take(sizes.all_rows());
  Index row = 0;
  for (int set = 0; set <= options_.hops; ++set)
    for (Index at = shell_begin(set, member); row < sizes.rows(set); ++row, ++at)
      numbers[std::size_t(row)] = VertexId(at);
}

void GroupBatch::fill(std::span<const std::byte* const> pushed, std::span<const VertexId* const> ids) {
  for (Layer& each : layers_) std::ranges::fill(each.offsets.span(), 0);
  for (int m = 0; m < members_; ++m) {
    number_rows(m);
    for (Index row = 0; row < sizes_of(m).all_rows(); ++row) ids_[numbers_[row]] = ids[std::size_t(m)][row];
    take_degrees(m, pushed[std::size_t(m)]);
  }
  for (Layer& each : layers_)
    for (Index d = 0; d + 1 < each.offsets.size(); ++d) each.offsets[d + 1] += each.offsets[d];
  for (int m = 0; m < members_; ++m) {
    number_rows(m);
    take_arcs(m, pushed[std::size_t(m)]);
  }
  for (int hop = 0; options_.transposed && hop < options_.hops; ++hop)
    layers_[std::size_t(hop)].transpose.make(block(hop).arcs, options_.places, cursors_);
}

void GroupBatch::take_degrees(int member, const std::byte* from) {
  const PushedSizes sizes = sizes_of(member);
  Reader reader(from);
  for (int hop = 0; hop < options_.hops; ++hop) {
    Layer& layer = layers_[std::size_t(hop)];
    for (Index d = 0; d < sizes.destinations(hop); ++d)
      layer.offsets[numbers_[d] + 1] = reader.next<std::uint32_t>();
    reader.skip(sizes.arcs(hop) * (sizes.weighted(hop) ? 8 : 4));
  }
}

void GroupBatch::take_arcs(int member, const std::byte* from) {
  const PushedSizes sizes = sizes_of(member);
  Reader reader(from);
  for (int hop = 0; hop < options_.hops; ++hop) {
    Layer& layer = layers_[std::size_t(hop)];
    reader.skip(4 * sizes.destinations(hop));
    Reader weights = reader;
    weights.skip(4 * sizes.arcs(hop));
    for (Index d = 0; d < sizes.destinations(hop); ++d)
      for (Index e = layer.offsets[numbers_[d]]; e < layer.offsets[numbers_[d] + 1]; ++e) {
        layer.columns[e] = numbers_[reader.next<VertexId>()];
        if (layer.weighted) layer.weights[e] = sizes.weighted(hop) ? weights.next<float>() : 1.F;
      }
    if (sizes.weighted(hop)) reader.skip(4 * sizes.arcs(hop));
  }
  for (Index d = 0; options_.scales_destinations() && d < sizes.destinations(0); ++d)
    dst_scale_[numbers_[d]] = reader.next<Real>();
  for (Index row = 0; options_.scales_sources() && row < sizes.all_rows(); ++row)
    src_scale_[numbers_[row]] = reader.next<Real>();
}

Block GroupBatch::block(int hop) const {
  const Layer& from = layers_[std::size_t(hop)];
  Block block;
  block.arcs = {destinations(hop), sources(hop), from.offsets.data(), from.columns.data(),
                from.weighted ? from.weights.data() : nullptr};
  if (options_.transposed) {
    block.transpose = from.transpose.view(destinations(hop));
    block.transpose_arc = options_.places ? from.transpose.arc.data() : nullptr;
  }
  block.dst_scale = options_.scales_destinations() ? dst_scale_.data() : nullptr;
  block.src_scale = options_.scales_sources() ? src_scale_.data() : nullptr;
  block.dst_ids = ids_.first(destinations(hop));
  block.src_ids = ids_.first(sources(hop));
  block.dst_are_sources = true;
  return block;
}

Index GroupBatch::reallocations() const {
  Index sum = ids_.reallocations() + numbers_.reallocations() + dst_scale_.reallocations() +
              src_scale_.reallocations() + cursors_.reallocations();
  for (const Layer& each : layers_)
    sum += each.offsets.reallocations() + each.columns.reallocations() + each.weights.reallocations() +
           each.transpose.reallocations();
  return sum;
}

Index GroupBatch::bytes() const {
  Index sum = ids_.bytes() + numbers_.bytes() + dst_scale_.bytes() + src_scale_.bytes() + cursors_.bytes();
  for (const Layer& each : layers_)
    sum += each.offsets.bytes() + each.columns.bytes() + each.weights.bytes() + each.transpose.bytes();
  return sum;
}

}  // namespace atl
