#include "base/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace atl {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Edit distance with swaps of neighbours (optimal string alignment), three rows at a time.
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_word(const std::string& given, const std::vector<std::string>& known) {
  constexpr std::size_t kShort = 4, kLongest = 100;  // nobody means a field by a word longer than that
  if (given.empty() || given.size() > kLongest) return "";
  std::string best;
  // Of three letters two others are another word: hgt isn't gat.
  const std::size_t most = given.size() <= kShort ? 1 : std::max<std::size_t>(2, given.size() / 3);
  std::size_t fewest = most + 1;
  for (const auto& word : known) {
    const std::size_t count = edits(lower(given), lower(word));
    if (count < fewest && count < std::max(given.size(), word.size())) {
      fewest = count;
      best = word;
    }
  }
  return best;
}

std::string suggestion(const std::string& given, const std::vector<std::string>& known) {
  if (known.empty()) return "";
  const std::string near = nearest_word(given, known);
  const std::string meant = near.empty() ? "" : fmt::format("did you mean {}? ", near);
  return fmt::format(" ({}known: {})", meant, fmt::join(known, ", "));
}

}  // namespace atl
