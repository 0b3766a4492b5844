#include "partition/part_ranks.h"

#include <fmt/ranges.h>

#include <charconv>
#include <sstream>

#include "base/error.h"

namespace atl {

PartRanks::PartRanks(std::vector<int> parts) : parts_(std::move(parts)), ranks_(parts_.size()) {
  ATOLL_CHECK(is_permutation(parts_), "parts {}", parts_text(parts_));
  for (std::size_t rank = 0; rank < parts_.size(); ++rank) ranks_[std::size_t(parts_[rank])] = Rank(rank);
}

bool is_permutation(std::span<const int> parts) {
  std::vector<bool> seen(parts.size());
  for (const int part : parts) {
    if (part < 0 || std::size_t(part) >= parts.size() || seen[std::size_t(part)]) return false;
    seen[std::size_t(part)] = true;
  }
  return true;
}

std::string parts_text(std::span<const int> parts) {
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<int> read_parts(const std::string& text, int ranks, const std::string& what) {
  std::vector<int> parts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    int part = -1;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), part);
    parts.push_back(error == std::errc() && end == word.data() + word.size() ? part : -1);
  }
  if (parts.size() != std::size_t(ranks) || !is_permutation(parts))
    fail("{}: '{}' is not allowed (use each of 0 … {} once, the part of rank 0 first)", what, text,
         ranks - 1);
  return parts;
}

}  // namespace atl
