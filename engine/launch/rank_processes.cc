#include "launch/rank_processes.h"

#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace atl {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kVariable = "OMPI_COMM_WORLD_RANK=";

std::optional<Rank> rank_of(const fs::path& process) {
  std::ifstream name_file(process / "comm"), environment(process / "environ", std::ios::binary);
  std::string name;
  if (!(name_file >> name) || name != "atoll") return {};
  for (std::string variable; std::getline(environment, variable, '\0');) {
    if (!variable.starts_with(kVariable)) continue;
    Rank rank = 0;
    const char* begin = variable.data() + kVariable.size();
    if (std::from_chars(begin, variable.data() + variable.size(), rank).ec == std::errc()) return rank;
  }
  return {};
}

pid_t parent_of(const fs::path& process) {
  std::ifstream file(process / "stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');  // a name may have spaces
  pid_t parent = 0;
  if (name_end != std::string::npos) std::sscanf(text.c_str() + name_end, ") %*c %d", &parent);
  return parent;
}

bool descends_from_us(pid_t pid) {
  for (int steps = 0; pid > 1 && steps < 100; ++steps) {  // a pid may be used again while we look
    pid = parent_of("/proc/" + std::to_string(pid));
    if (pid == getpid()) return true;
  }
  return false;
}

}  // namespace

std::map<pid_t, Rank> rank_processes() {
  std::map<pid_t, Rank> found;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    const auto rank = rank_of(entry.path());
    if (rank && descends_from_us(pid)) found[pid] = *rank;
  }
  return found;
}

}  // namespace atl
