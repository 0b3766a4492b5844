#include "launch/earlier_ranks.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

namespace atl {
namespace {

namespace fs = std::filesystem;
constexpr std::chrono::milliseconds kLook{50};
constexpr int kLooks = 100;

std::optional<int> number(const std::string& text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

/// None of a process that has ended and isn't reaped yet.
std::vector<std::string> words_of(const fs::path& process) {
  std::ifstream file(process / "cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// What follows `option`, or "".
std::string value_of(const std::vector<std::string>& words, const std::string& option) {
  const auto found = std::ranges::find(words, option);
  return found == words.end() || std::next(found) == words.end() ? "" : *std::next(found);
}

std::vector<pid_t> earlier_ranks(const std::string& run, int attempt) {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const auto pid = number(entry.path().filename());
    if (!pid) continue;
    const auto words = words_of(entry.path());
    const auto theirs = number(value_of(words, "--attempt"));
    if (words.size() > 1 && words[1] == "train" && value_of(words, "--run") == run && theirs &&
        *theirs < attempt)
      found.push_back(*pid);
  }
  return found;
}

}  // namespace

void end_earlier_ranks(const std::string& run, int attempt) {
  for (int looks = 0; looks < kLooks; ++looks) {
    const auto pids = earlier_ranks(run, attempt);
    if (pids.empty()) return;
    for (const pid_t pid : pids) kill(pid, SIGKILL);
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace atl
