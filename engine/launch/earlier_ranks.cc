// Ends ranks of an earlier attempt that still run in our pod.
#include "launch/rank_guard.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <vector>

namespace atl {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLook{10}, kPatience{5000};

std::optional<int> number(const std::string& text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

/// A process's command line. It is empty for one that has ended or is about to, since memory is freed first.
std::vector<std::string> words_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// The word after `option`, or "".
std::string value_of(const std::vector<std::string>& words, const std::string& option) {
  const auto found = std::ranges::find(words, option);
  return found == words.end() || std::next(found) == words.end() ? "" : *std::next(found);
}

bool is_earlier_rank(pid_t process, const std::string& run, int attempt) {
  const auto words = words_of(process);
  const auto theirs = number(value_of(words, "--attempt"));
  return words.size() > 1 && words[1] == "train" && value_of(words, "--run") == run && theirs &&
         *theirs < attempt;
}

std::string name_of(const std::string& process) {
  std::ifstream file("/proc/" + process + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::vector<pid_t> processes() {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone))
    if (const auto pid = number(entry.path().filename())) found.push_back(*pid);
  return found;
}

/// Whether a thread has ended, reaped or not. `thread` is its folder in /proc.
bool has_ended(const fs::path& thread) {
  std::ifstream file(thread / "stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = text.rfind(") ");  // of "PID (NAME) STATE …"
  return name_end == std::string::npos || text[name_end + 2] == 'Z' || text[name_end + 2] == 'X';
}

/// Whether all threads have ended. Only then has the process released all that it held; ports come last.
bool is_gone(pid_t process) {
  std::error_code gone;
  for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", gone))
    if (!has_ended(thread.path())) return false;
  return true;
}

/// Whether this is a process of our program that somebody, perhaps a rank beside us, has killed, and that
/// still holds its resources. A process that begins looks the same for a moment, so such a process is waited
/// for and never killed.
bool is_ending(pid_t process) {
  return words_of(process).empty() && name_of(std::to_string(process)) == name_of("self") &&
         !is_gone(process);
}

}  // namespace

void end_earlier_ranks(const std::string& run, int attempt) {
  std::vector<pid_t> ranks = processes();
  std::erase_if(ranks, [&](pid_t process) { return !is_earlier_rank(process, run, attempt); });
  for (const pid_t rank : ranks) kill(rank, SIGKILL);
  const auto is_over = [&] {
    return std::ranges::all_of(ranks, is_gone) && std::ranges::none_of(processes(), is_ending);
  };
  const auto deadline = Clock::now() + kPatience;
  while (!is_over() && Clock::now() < deadline) std::this_thread::sleep_for(kLook);
}

}  // namespace atl
