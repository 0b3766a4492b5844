#include "train/epoch_so_far.h"

#include "train/saved_count.h"

namespace atl {

void EpochSoFar::save(std::map<std::string, double>& scalars) const {
  scalars["epoch.loss"] = loss;
  scalars["epoch.vertices"] = vertices;
  scalars["epoch.seconds"] = seconds;
  scalars["epoch.bytesIntra"] = double(bytes_intra);
  scalars["epoch.bytesInter"] = double(bytes_inter);
}

void EpochSoFar::load(const std::map<std::string, double>& scalars) {
  const auto saved = [&](const char* name) {
    const auto found = scalars.find(name);
    return found == scalars.end() ? 0.0 : found->second;
  };
  loss = saved("epoch.loss");
  vertices = saved("epoch.vertices");
  seconds = saved("epoch.seconds");
  bytes_intra = saved_count(saved("epoch.bytesIntra"));
  bytes_inter = saved_count(saved("epoch.bytesInter"));
}

}  // namespace atl
