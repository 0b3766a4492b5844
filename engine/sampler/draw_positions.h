// Draws positions in a row of neighbours, in time that grows with the draws and not with the row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/types.h"

namespace atl {

/// One thread's. Draw i of a row is a function of (key, i) alone; key: Draws::row_key of the vertex.
class PositionDraws {
 public:
  /// positions: each of 0 … size − 1 with equal probability, independently.
  static void with_replacement(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);
  /// positions: distinct ones of 0 … size − 1, each set with equal probability (Floyd, in Bentley & Floyd 1987); at most `size`.
  void without_replacement(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);

 private:
  void few(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);
  void many(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);

  std::vector<VertexId> taken_;  // a hash table of what many() has drawn
};

}  // namespace atl
