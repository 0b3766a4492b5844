// The synchronous collectives of set-up and output, composed of exchanges. They are simple rather than fast,
// because no step loop calls them.
#include <algorithm>

#include "base/error.h"
#include "comm/communicator.h"

namespace atl {
namespace {

std::byte* bytes_of(std::int64_t& value) {
  return reinterpret_cast<std::byte*>(&value);
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Removes the first line and returns it.
std::string_view next_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), line.size() + 1));
  return line;
}

/// Describes the first line in which `theirs` differs from `ours`, so that an error message doesn't hold a
/// whole manifest.
std::string difference(std::string_view ours, std::string_view theirs, const std::string& our_name,
                       const std::string& their_name) {
  const bool is_one_line = ours.find('\n') == ours.npos && theirs.find('\n') == theirs.npos;
  for (int number = 1;; ++number) {
    const auto our_line = next_line(ours), their_line = next_line(theirs);
    if (our_line == their_line && !(ours.empty() && theirs.empty())) continue;
    const std::string where = is_one_line ? "" : fmt::format("line {} is ", number);
    return fmt::format("{}\"{}\" on {}, \"{}\" on {}", where, our_line, our_name, their_line, their_name);
  }
}

}  // namespace

void Communicator::broadcast(Traffic purpose, Rank root, std::span<std::byte> bytes) {
  ATOLL_CHECK(root >= 0 && root < size(), "root {} of {}", root, size());
  std::vector<Message> sends, receives;
  const auto count = std::int64_t(bytes.size());
  if (rank() != root) receives.push_back({root, bytes.data(), count});
  for (Rank r = 0; rank() == root && r < size(); ++r)
    if (r != root) sends.push_back({r, bytes.data(), count});
  exchange(Lane::kSmall, purpose, sends, receives).wait();
}

/// Sends the sizes first, then the bytes.
Communicator::Blobs Communicator::exchange_blobs(Traffic purpose,
                                                 const std::vector<std::span<const std::byte>>& to) {
  const auto ranks = std::size_t(size()), me = std::size_t(rank());
  std::vector<std::int64_t> out(ranks), in(ranks);
  std::vector<Message> sends, receives;
  for (std::size_t r = 0; r < ranks; ++r) {
    out[r] = std::int64_t(to[r].size());
    if (r == me) continue;
    sends.push_back({Rank(r), bytes_of(out[r]), 8});
    receives.push_back({Rank(r), bytes_of(in[r]), 8});
  }
  exchange(Lane::kSmall, purpose, sends, receives).wait();
  Blobs from(ranks);
  sends.clear(), receives.clear();
  for (std::size_t r = 0; r < ranks; ++r) {
    if (r == me) continue;
    from[r].resize(std::size_t(in[r]));
    sends.push_back({Rank(r), const_cast<std::byte*>(to[r].data()), out[r]});
    receives.push_back({Rank(r), from[r].data(), in[r]});
  }
  exchange(Lane::kSmall, purpose, sends, receives).wait();
  from[me].assign(to[me].begin(), to[me].end());
  return from;
}

std::vector<std::vector<std::byte>> Communicator::all_gather(Traffic purpose,
                                                             std::span<const std::byte> mine) {
  return exchange_blobs(purpose, std::vector<std::span<const std::byte>>(std::size_t(size()), mine));
}

std::vector<std::vector<std::byte>> Communicator::all_to_all(Traffic purpose,
                                                             const std::vector<std::vector<std::byte>>& to) {
  ATOLL_CHECK(to.size() == std::size_t(size()), "bytes for {} of {} ranks", to.size(), size());
  return exchange_blobs(purpose, std::vector<std::span<const std::byte>>(to.begin(), to.end()));
}

void Communicator::barrier() {
  std::int64_t nothing = 0;
  all_reduce(Traffic::kSetup, std::span(&nothing, 1));
}

void Communicator::check_same(const std::string& what, const std::string& value) {
  const auto values = all_gather(Traffic::kSetup, std::as_bytes(std::span(value)));
  std::string differing;
  for (Rank r = 1; r < size(); ++r) {
    if (values[std::size_t(r)] == values[0]) continue;
    differing += differing.empty() ? "" : "; ";
    differing += difference(text_of(values[0]), text_of(values[std::size_t(r)]),
                            fmt::format("rank 0 ({})", host(0)), fmt::format("rank {} ({})", r, host(r)));
  }
  if (!differing.empty()) fail("the {} differs between ranks: {}; give every rank the same", what, differing);
}

}  // namespace atl
