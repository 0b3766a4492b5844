#include "launch/mpirun_messages.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

namespace atl {
namespace {

// What mpirun's messages mean for a user who has started a job and doesn't know mpirun.

struct Trouble {
  const char *words, *meaning;  // words that the box contains, with spaces for line breaks; their meaning
};

constexpr std::array kTroubles = {
    Trouble{
        "unable to reliably start one or more daemons",
        "a host of --hosts can't be reached, or has no Open MPI: see that the command of --shell (ssh) runs `orted "
        "--version` on each of them without asking for a password"},
    Trouble{"that is not in your allocation",
            "mpirun doesn't know a host by the name that --hosts gives it: give its address"},
    Trouble{"could not access or execute an executable",
            "this program is not at the same place on every host: install it there where it is here"},
    Trouble{"unable to find the specified executable file",
            "this program is not at the same place on every host: install it there where it is here"},
    Trouble{"no longer able to be reached", "a host can't be reached any more: see to it and to the network"},
    Trouble{"unable to change to working directory",
            "this folder is not there on every host: start in one that all of them see"},
    Trouble{"system limit on number of pipes",
            "it found no pipe for them: raise the limit on open files (`ulimit -n`), or use fewer ranks"},
    Trouble{"not enough space for",
            "shared memory is full: free space in /dev/shm, or set TMPDIR to a folder with 16 MiB"},
    Trouble{"system limit exceeded on number of processes",
            "a host refuses more processes: use fewer ranks or threads, or raise `ulimit -u`"},
};

/// One line that says what to do about a box of mpirun's; "" where we don't know the box.
std::string trouble_in(const std::string& box) {
  std::string words = box;
  std::ranges::replace(words, '\n', ' ');
  const auto known = std::ranges::find_if(
      kTroubles, [&](const Trouble& each) { return words.find(each.words) != std::string::npos; });
  return known == kTroubles.end() ? "" : known->meaning;
}

/// Whether a line outside of boxes is from Open MPI or the remote shell. If not, it is from a rank.
bool is_from_mpirun(const std::string& line) {
  if (line.starts_with("mpirun: ") || line.starts_with("ssh: ") || line.find("orted: ") != std::string::npos)
    return true;
  const auto colon = line.find(':'), bracket = line.find("] ");  // "[vm:25560] mpirun: SIGPIPE detected"
  if (!line.starts_with('[') || bracket == std::string::npos || colon + 1 >= bracket) return false;
  return std::all_of(line.begin() + std::ptrdiff_t(colon) + 1, line.begin() + std::ptrdiff_t(bracket),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Whether a line is a rule. Open MPI draws boxes around its own messages, with rules of 74 dashes.
bool is_rule(std::string_view line) {
  return line.size() >= 70 && line.find_first_not_of('-') == std::string_view::npos;
}

/// Reads "mpirun noticed that process rank 1 with PID 0 on node vm exited on signal 9 (Killed)."
std::optional<LostRank> killed(const std::string& box) {
  LostRank lost;
  char host[256] = {};
  const auto at = box.find("process rank ");
  if (at == std::string::npos) return {};
  const int read =
      std::sscanf(box.c_str() + at, "process rank %d with PID %*d on node %255s exited on signal %d",
                  &lost.rank, host, &lost.signal);
  lost.host = host;
  return read == 3 ? std::optional(lost) : std::nullopt;
}

/// Reads "Process name: [[53385,1],0]\n  Exit code:    3".
std::optional<LostRank> exited(const std::string& box) {
  LostRank lost;
  const auto at = box.find("Process name: [[");
  if (at == std::string::npos) return {};
  const int read = std::sscanf(box.c_str() + at, "Process name: [[%*d,%*d],%d] Exit code: %d", &lost.rank,
                               &lost.exit_code);
  return read == 2 ? std::optional(lost) : std::nullopt;
}

/// Reads "ORTE has lost communication with a remote daemon. … Remote daemon: [[49737,0],2] on node
/// 10.244.2.3".
std::string silent_host(const std::string& box) {
  char host[256] = {};
  const auto at = box.find("Remote daemon: [[");
  if (at == std::string::npos || !box.starts_with("ORTE has lost communication")) return {};
  std::sscanf(box.c_str() + at, "Remote daemon: [[%*d,%*d],%*d] on node %255s", host);
  return host;
}

/// Whether the text is a remark that only repeats what we say ourselves.
bool is_noise(const std::string& text) {
  return text.starts_with("mpirun: Forwarding signal") ||
         text.starts_with("Primary job  terminated normally");
}

}  // namespace

void MpirunMessages::add(const char* data, std::size_t size) {
  for (const char c : std::string_view(data, size)) {
    if (c == '\n') {
      end_line();
    } else {
      current_ += c;
    }
  }
}

void MpirunMessages::end_line() {
  const std::string line = std::move(current_);
  current_.clear();
  if (is_rule(line)) {
    if (in_box_) end_box();
    in_box_ = !in_box_;
  } else if (in_box_) {
    box_ += line + "\n";
  } else if (!is_noise(line)) {
    take_line(line);
  }
}

void MpirunMessages::take_line(const std::string& line) {
  if (const auto news = read_rank_news(line)) return take_news(*news);
  const auto failed = read_rank_failure(line);
  if (failed && failed->signal > 0) {
    if (!lost_ && lost_host_.empty()) lost_ = LostRank{failed->rank, failed->host, failed->signal};
    return;
  }
  if (!failed_) failed_ = failed;
  pass_on(line, is_from_mpirun(line));
}

void MpirunMessages::take_news(const RankNews& news) {
  RankState& rank = ranks_[news.rank];
  rank.host = news.host;
  if (news.word == RankWord::kLeaves) rank.left = std::chrono::steady_clock::now();
  if (news.word == RankWord::kEnded) rank.ended = true;
}

void MpirunMessages::pass_on(const std::string& text, bool from_mpirun) {
  if (from_mpirun && is_stopped_) return;
  if (from_mpirun && !was_from_mpirun_) line_("atoll: mpirun says:");
  was_from_mpirun_ = from_mpirun;
  line_(text);
}

void MpirunMessages::end_box() {
  const std::string box = std::move(box_);
  box_.clear();
  auto found = killed(box);
  if (!found) found = exited(box);
  const std::string silent = silent_host(box);
  if (!lost_ && lost_host_.empty()) {
    lost_ = found;
    lost_host_ = silent;
  }
  if (found || !silent.empty() || is_noise(box) || box.empty()) return;
  if (trouble_.empty()) trouble_ = trouble_in(box);
  pass_on(box.substr(0, box.size() - 1), true);
}

void MpirunMessages::finish() {
  if (!current_.empty()) end_line();
  if (in_box_) end_box();
  in_box_ = false;
}

namespace {

constexpr std::chrono::seconds kWorthTelling{5};
// A rank says each half a second that it leaves; after this time without a word it counts as silent.
constexpr std::chrono::seconds kSilent{2};
constexpr int kFailedStatus = 1;

/// The ranks that haven't ended. If some of them have fallen silent, only these are returned, because the
/// others wait for them.
std::vector<int> who_stays(const std::map<int, RankState>& ranks, Leaving::Clock::time_point now) {
  std::vector<int> all, silent;
  for (const auto& [rank, state] : ranks) {
    if (state.ended) continue;
    all.push_back(rank);
    if (!state.left || now - *state.left > kSilent) silent.push_back(rank);
  }
  return silent.empty() ? all : silent;
}

}  // namespace

Leaving::News Leaving::look(const std::map<int, RankState>& ranks, Clock::time_point now) {
  if (patience_.count() == 0 || is_over_) return News::kNone;
  if (!since_ && std::ranges::any_of(ranks, [](const auto& each) { return each.second.left.has_value(); }))
    since_ = now;
  if (!since_) return News::kNone;
  is_over_ = now >= *since_ + patience_;
  if (!is_over_ && (now < *since_ + kWorthTelling || std::exchange(told_, true))) return News::kNone;
  note(ranks, now, is_over_ ? patience_ : kWorthTelling);
  return is_over_ ? News::kOver : News::kWorthTelling;
}

void Leaving::note(const std::map<int, RankState>& ranks, Clock::time_point now,
                   std::chrono::seconds waited) {
  std::string names;
  first_.reset();
  const std::vector<int> staying = who_stays(ranks, now);
  for (const int rank : staying) {
    const std::string& host = ranks.at(rank).host;
    if (!first_) first_ = LostRank{rank, host, 0, kFailedStatus};
    names += fmt::format("{}rank {} on {}", names.empty() ? "" : ", ", rank, host);
  }
  words_ = fmt::format("the run's files are written, but {} {} not ended within {} s",
                       names.empty() ? "mpirun" : names, staying.size() > 1 ? "have" : "has", waited.count());
}

}  // namespace atl
