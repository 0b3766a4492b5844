#include "launch/places.h"

#include <fmt/ranges.h>

#include <sstream>

#include "base/error.h"

namespace atl {

std::string places_text(std::span<const Place> places) {
  std::string text;
  for (const Place& place : places)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ";", place.host, fmt::join(place.ranks, ","));
  return text;
}

void check_place(const std::string& text, Rank rank, const std::string& host) {
  std::istringstream places(text);
  for (std::string place; std::getline(places, place, ';');) {
    const auto colon = place.find(':');
    std::istringstream ranks(colon == std::string::npos ? "" : place.substr(colon + 1));
    for (std::string one; std::getline(ranks, one, ',');) {
      if (one != std::to_string(rank)) continue;
      if (place.substr(0, colon) == host) return;
      fail(
          "rank {} runs on {} and was planned for {}: mpirun mapped the ranks otherwise; start again, and report this",
          rank, host, place.substr(0, colon));
    }
  }
  fail("--places: names no host for rank {}: '{}'", rank, text);
}

}  // namespace atl
