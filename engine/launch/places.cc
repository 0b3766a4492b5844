#include "launch/places.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/text.h"

namespace atl {
namespace {

/// Reads "cora-0-0@node1:0,1". A word that isn't a number is no rank.
Place read_place(const std::string& text) {
  const auto colon = text.find(':');
  const std::string where = text.substr(0, colon);
  const auto at = where.find('@');
  Place place{where.substr(0, at), {}, at == std::string::npos ? "" : where.substr(at + 1)};
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
    text += fmt::format("{}{}{}{}:{}", text.empty() ? "" : ";", place.host, place.node.empty() ? "" : "@",
                        place.node, joined(place.ranks, ","));
  return text;
}

std::vector<Rank> ranks_beside(const std::string& text, Rank rank) {
  return place_of(text, rank).ranks;
}

int ranks_on_node(const std::string& text, Rank rank) {
  const Place own = place_of(text, rank);
  if (own.node.empty()) return int(own.ranks.size());
  std::size_t ranks = 0;
  std::istringstream places(text);
  for (std::string one; std::getline(places, one, ';');)
    if (const Place place = read_place(one); place.node == own.node) ranks += place.ranks.size();
  return int(ranks);
}

void check_place(const std::string& text, Rank rank, const std::string& host) {
  const Place planned = place_of(text, rank);
  if (planned.host == host) return;
  fail(
      "rank {} runs on {} but was planned for {}: mpirun mapped the ranks differently; start again, and "
      "report this",
      rank, host, planned.host);
}

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kTryMilliseconds = 1000;
constexpr auto kPause = std::chrono::milliseconds(200);  // between rounds

struct Socket {
  int file;
  explicit Socket(int family) : file(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (file >= 0) close(file);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
};

std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> resolve(const HostPort& host) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.address.c_str(), std::to_string(host.port).c_str(), &hints, &found) != 0)
    fail("{}: '{}' is not an IP address; give the pod's", host.name, host.address);
  return {found, &freeaddrinfo};
}

/// Tries to connect once: "" if the host has accepted the connection, otherwise the reason why not.
std::string try_once(const HostPort& host) {
  const auto target = resolve(host);
  const Socket s(target->ai_family);
  if (s.file < 0) return std::strerror(errno);
  if (connect(s.file, target->ai_addr, target->ai_addrlen) == 0) return "";
  if (errno != EINPROGRESS) return std::strerror(errno);
  pollfd waiting{s.file, POLLOUT, 0};
  // If a signal ends the wait, the host hasn't answered either; the next round asks again.
  if (poll(&waiting, 1, kTryMilliseconds) <= 0) return "no answer";
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(s.file, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? "" : std::strerror(error);
}

}  // namespace

void wait_until_reachable(const std::vector<HostPort>& hosts, std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  std::vector<HostPort> missing = hosts;
  std::string why;
  for (bool first = true; !missing.empty(); first = false) {
    if (!first && Clock::now() >= deadline) {
      fail("not reachable after {} s:{}; check that they run, and that no NetworkPolicy blocks the launcher",
           std::chrono::duration_cast<std::chrono::seconds>(patience).count(), why);
    }
    if (!first) std::this_thread::sleep_for(kPause);
    why.clear();
    std::vector<HostPort> still;
    for (const HostPort& host : missing) {
      // There is no time to ask the other hosts; the first names suffice.
      if (!first && Clock::now() >= deadline && !still.empty()) {
        why += ", …";
        break;
      }
      const std::string reason = try_once(host);
      if (reason.empty()) continue;
      why += fmt::format("{} {} ({} port {}: {})", still.empty() ? "" : ",", host.name, host.address,
                         host.port, reason);
      still.push_back(host);
    }
    missing = std::move(still);
  }
}

}  // namespace atl
