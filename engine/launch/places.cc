#include "launch/places.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/error.h"

namespace atl {
namespace {

/// "cora-0-0:0,1"; what isn't a number is no rank.
Place read_place(const std::string& text) {
  const auto colon = text.find(':');
  Place place{text.substr(0, colon), {}};
  std::istringstream ranks(colon == std::string::npos ? "" : text.substr(colon + 1));
  for (std::string one; std::getline(ranks, one, ',');) {
    Rank rank = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), rank);
    if (error == std::errc() && end == one.data() + one.size()) place.ranks.push_back(rank);
  }
  return place;
}

Place place_of(const std::string& text, Rank rank) {
  std::istringstream places(text);
  for (std::string one; std::getline(places, one, ';');) {
    const Place place = read_place(one);
    if (std::ranges::count(place.ranks, rank) > 0) return place;
  }
  fail("--places: names no host for rank {}: '{}'", rank, text);
}

}  // namespace

std::string places_text(std::span<const Place> places) {
  std::string text;
  for (const Place& place : places)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ";", place.host, fmt::join(place.ranks, ","));
  return text;
}

std::vector<Rank> ranks_beside(const std::string& text, Rank rank) {
  return place_of(text, rank).ranks;
}

void check_place(const std::string& text, Rank rank, const std::string& host) {
  const Place planned = place_of(text, rank);
  if (planned.host == host) return;
  fail(
      "rank {} runs on {} but was planned for {}: mpirun mapped the ranks differently; start again, and "
      "report this",
      rank, host, planned.host);
}

}  // namespace atl
