#include "sampler/batch.h"

#include "base/error.h"

namespace atl {
namespace {

template <class T>
const T* data_or_null(const Recycled<T>& values) {
  return values.size() == 0 ? nullptr : values.data();
}

}  // namespace

Block Batch::block(int layer) const {
  ATOLL_CHECK(layer >= 0 && layer < layers(), "layer {} of {}", layer, layers());
  const Layer& from = layers_[std::size_t(layer)];
  const Index sources = this->sources(layer), destinations = output_rows(layer);
  const bool has_leaves = from.leaves.size() > 0;
  Block block;
  block.arcs = {destinations, sources, from.arcs.offsets.data(), from.arcs.columns.data(),
                from.weighted ? from.arcs.weights.data() : nullptr};
  if (from.transposed) {
    block.transpose = from.transpose.view(destinations);
    block.transpose_arc = from.places ? from.transpose.arc.data() : nullptr;
  }
  block.dst_scale = data_or_null(dst_scale_);
  block.src_scale = data_or_null(has_leaves ? from.leaves.scales : src_scale_);
  block.dst_ids = ids_.first(destinations);
  block.src_ids = has_leaves ? from.leaves.ids.span() : ids_.first(sources);
  block.dst_are_sources = true;
  return block;
}

Index Batch::arcs() const {
  Index sum = 0;
  for (const Layer& layer : layers_) sum += layer.arcs.columns.size();
  return sum;
}

Index Batch::growths() const {
  Index sum = rows_.growths() + ids_.growths() + degrees_.growths() + dst_scale_.growths() +
              src_scale_.growths() + loss_weights.growths();
  for (const Layer& layer : layers_)
    sum += layer.arcs.growths() + layer.transpose.growths() + layer.leaves.growths();
  return sum;
}

Index Batch::bytes() const {
  Index sum = rows_.bytes() + ids_.bytes() + degrees_.bytes() + dst_scale_.bytes() + src_scale_.bytes() +
              loss_weights.bytes();
  for (const Layer& layer : layers_)
    sum += layer.arcs.heads.bytes() + layer.arcs.offsets.bytes() + layer.arcs.columns.bytes() +
           layer.arcs.weights.bytes() + layer.transpose.bytes() + layer.leaves.bytes();
  return sum;
}

}  // namespace atl
