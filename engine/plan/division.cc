#include "plan/division.h"

namespace atl {
namespace {

constexpr double kWorthwhile = 1e-9;  // of all bytes: less is rounding
constexpr int kMostPasses = 30;       // it ends after a handful; this bounds rounding's mischief

}  // namespace

PairedBytes::PairedBytes(int parts, std::span<const PairBytes> flows) : rows_(std::size_t(parts)) {
  for (const PairBytes& f : flows) {
    if (f.from == f.to) continue;
    rows_[std::size_t(f.from)].push_back({f.to, f.bytes});
    rows_[std::size_t(f.to)].push_back({f.from, f.bytes});
    total_ += f.bytes;
  }
}

Division::Division(const PairedBytes& bytes, std::vector<int> server_of, int servers)
    : bytes_(bytes),
      server_of_(std::move(server_of)),
      servers_(servers),
      with_(std::size_t(bytes.parts()) * std::size_t(servers)) {
  for (int part = 0; part < bytes.parts(); ++part)
    for (const auto& [peer, size] : bytes.of(part)) with_[index(part, server_of_[std::size_t(peer)])] += size;
}

void Division::refine() {
  const double least = kWorthwhile * bytes_.total();
  bool changed = true;
  for (int pass = 0; changed && pass < kMostPasses; ++pass) {
    changed = false;
    for (int part = 0; part < bytes_.parts(); ++part) {
      const auto [other, gain] = best_exchange(part);
      if (gain <= least) continue;
      exchange(part, other);
      changed = true;
    }
  }
}

double Division::bytes_inside() const {
  double twice = 0;
  for (int part = 0; part < bytes_.parts(); ++part)
    twice += with_[index(part, server_of_[std::size_t(part)])];
  return twice / 2;
}

/// With whom `part` should change places, and the bytes that would come to stay inside.
std::pair<int, double> Division::best_exchange(int part) const {
  std::vector<double> direct(std::size_t(bytes_.parts()), 0);
  for (const auto& [peer, size] : bytes_.of(part)) direct[std::size_t(peer)] += size;
  std::pair<int, double> best{-1, 0};
  const int here = server_of_[std::size_t(part)];
  for (int other = 0; other < bytes_.parts(); ++other) {
    const int there = server_of_[std::size_t(other)];
    if (there == here) continue;
    // The sums count what the two say to each other as if they came together; they stay apart.
    const double gain = with_[index(part, there)] - with_[index(part, here)] + with_[index(other, here)] -
                        with_[index(other, there)] - 2 * direct[std::size_t(other)];
    if (gain > best.second) best = {other, gain};
  }
  return best;
}

void Division::exchange(int a, int b) {
  const int here = server_of_[std::size_t(a)], there = server_of_[std::size_t(b)];
  move(a, here, there);
  move(b, there, here);
}

void Division::move(int part, int from, int to) {
  server_of_[std::size_t(part)] = to;
  for (const auto& [peer, size] : bytes_.of(part)) {
    with_[index(peer, from)] -= size;
    with_[index(peer, to)] += size;
  }
}

}  // namespace atl
