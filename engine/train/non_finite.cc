#include "train/non_finite.h"

#include <cstring>
#include <vector>

namespace atl {
namespace {

std::vector<NonFinite> gather(Communicator& comm, const NonFinite& mine) {
  std::vector<NonFinite> all;
  for (const auto& blob : comm.all_gather(Traffic::kStatistics, std::as_bytes(std::span(&mine, 1))))
    std::memcpy(&all.emplace_back(), blob.data(), sizeof(NonFinite));
  return all;
}

/// The rank where `what` comes first in the epoch's order; −1: none saw it.
Rank earliest(const std::vector<NonFinite>& all, std::int32_t NonFinite::*what, bool ascending) {
  Rank first = -1;
  for (Rank r = 0; r < Rank(all.size()); ++r) {
    const std::int32_t theirs = all[std::size_t(r)].*what;
    if (theirs < 0) continue;
    if (first < 0 ||
        (ascending ? theirs < all[std::size_t(first)].*what : theirs > all[std::size_t(first)].*what))
      first = r;
  }
  return first;
}

std::string layer_text(const Model& model, int layer) {
  if (layer == int(model.layers.size())) return "the decoder";
  return fmt::format("layer {} ({})", layer, model.spec(layer).name);
}

std::string gradient_text(const Model& model, const Parameters& parameters, std::int32_t entry) {
  const Parameters::Entry& e = parameters.entries()[std::size_t(entry)];
  return fmt::format("the gradient of {} in {}", e.spec.name, layer_text(model, e.layer));
}

/// Outputs come before gradients, and a rank's share before the sum that spreads it to all.
std::string place_text(const Communicator& comm, const Model& model, const Parameters& parameters,
                       const std::vector<NonFinite>& all) {
  const auto on = [&](Rank r) { return fmt::format("on rank {} ({})", r, comm.host(r)); };
  if (const Rank r = earliest(all, &NonFinite::layer, true); r >= 0)
    return layer_text(model, all[std::size_t(r)].layer) + " " + on(r);
  if (const Rank r = earliest(all, &NonFinite::share, false); r >= 0)
    return gradient_text(model, parameters, all[std::size_t(r)].share) + " " + on(r);
  if (const Rank r = earliest(all, &NonFinite::sum, false); r >= 0)
    return gradient_text(model, parameters, all[std::size_t(r)].sum) + ", summed over ranks";
  return "the sum of the loss";
}

}  // namespace

void fail_non_finite(Communicator& comm, const Model& model, const Parameters& parameters,
                     const NonFinite& mine, const std::string& when, const Reached& last_checkpoint) {
  const std::string where = place_text(comm, model, parameters, gather(comm, mine));
  const std::string checkpoint = last_checkpoint > Reached{}
                                     ? "the last good checkpoint is of " + reached_text(last_checkpoint)
                                     : "there is no checkpoint yet";
  if (comm.rank() != 0) comm.barrier();
  fail(
      "{}: loss or gradient is not finite; first seen in {}; {}; lower training.optimizer.learningRate, "
      "set training.optimizer.clipNorm or model.norm, and start over with --fresh",
      when, where, checkpoint);
}

}  // namespace atl
