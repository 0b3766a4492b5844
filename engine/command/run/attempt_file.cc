#include "command/run/attempt_file.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "base/error.h"
#include "base/json.h"
#include "partition/local_graph.h"

namespace atl {
namespace {

using SortedJson = nlohmann::json;
constexpr std::size_t kHexDigits = 64;

AttemptFile parse(const SortedJson& json) {
  AttemptFile file;
  file.attempt = json.at("attempt").get<int>();
  file.run = json.value("run", "");
  for (const SortedJson& server : json.at("servers")) {
    file.servers.push_back({server.at("pod").get<std::string>(), server.value("node", ""),
                            server.at("address").get<std::string>(),
                            server.at("ranks").get<std::vector<Rank>>()});
  }
  file.strategy = json.value("strategy", "");
  file.prepared = json.value("prepared", "");
  if (json.contains("parts")) file.parts = json.at("parts").get<std::vector<int>>();
  return file;
}

void check(const AttemptFile& file, int ranks, const std::string& name) {
  std::vector<int> seen(std::size_t(ranks), 0);
  for (const AttemptServer& server : file.servers) {
    for (const Rank rank : server.ranks) {
      if (rank < 0 || rank >= ranks)
        fail("{}: {} has rank {}; the manifest has ranks 0 … {}", name, server.pod, rank, ranks - 1);
      if (++seen[std::size_t(rank)] > 1) fail("{}: rank {} is listed twice", name, rank);
    }
  }
  const auto missing = std::find(seen.begin(), seen.end(), 0);
  if (missing != seen.end()) fail("{}: no server has rank {}", name, missing - seen.begin());
  if (!file.parts.empty() && (file.parts.size() != std::size_t(ranks) || !is_permutation(file.parts)))
    fail("{}: parts [{}] is not allowed (use each of 0 … {} once)", name, parts_text(file.parts), ranks - 1);
  const bool is_hex = file.prepared.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!file.prepared.empty() && (file.prepared.size() != kHexDigits || !is_hex))
    fail("{}: prepared '{}' is not allowed (use a SHA-256, {} hexadecimal digits)", name, file.prepared,
         kHexDigits);
  if (file.attempt < 1) fail("{}: attempt {} is not allowed (use 1 or more)", name, file.attempt);
}

}  // namespace

const AttemptServer& AttemptFile::server_of(Rank rank) const {
  for (const AttemptServer& server : servers)
    if (std::ranges::count(server.ranks, rank) > 0) return server;
  ATOLL_CHECK(false, "rank {} of {} servers", rank, servers.size());
}

AttemptFile read_attempt_file(const std::filesystem::path& path, int ranks) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    fail("{}: cannot be read; the operator makes it when all pods of a job are ready", path.string());
  AttemptFile file;
  try {
    file = parse(parse_json(stream));
  } catch (const SortedJson::exception& error) {
    fail("{}: is not an attempt's description: {}", path.string(), error.what());
  }
  check(file, ranks, path.string());
  return file;
}

namespace {

using Ordered = nlohmann::ordered_json;

/// The JSON text. Bytes that aren't valid text are replaced, because a program's last output may be anything.
std::string text_of(const Ordered& json) {
  return json.dump(-1, ' ', false, Ordered::error_handler_t::replace);
}

}  // namespace

std::string last_word(Ordered end) {
  std::string text = text_of(end);
  while (text.size() > kLongestWord && end.contains("message")) {
    // Cuts less than the excess at a time, because one byte of the message may take six in JSON. Keeps the
    // beginning of the message, which says what failed.
    auto& message = end["message"].get_ref<std::string&>();
    if (message.empty()) break;
    const std::size_t excess = text.size() - kLongestWord;
    message.resize(message.size() - std::min(message.size(), excess / 6 + 1));
    text = text_of(end);
  }
  return text;
}

void leave_word(const std::string& path, const Ordered& end) {
  std::ofstream file(path);
  file << last_word(end);
  file.close();
  if (!file)
    std::fprintf(stderr, "atoll: warning: %s: how this ended can't be written there\n", path.c_str());
}

}  // namespace atl
