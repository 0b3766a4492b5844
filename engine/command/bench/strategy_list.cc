#include "command/bench/strategy_list.h"

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "job/strategies.h"

namespace atl {
namespace {

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text + separator);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool is_common(const std::string& kind, const std::string& name) {
  const StrategyInfo* info = find_strategy(kind);
  if (name == "kind" || info == nullptr) return false;
  const std::string path = "strategy." + kind + "." + name;
  return std::none_of(info->options.begin(), info->options.end(),
                      [&](const Field& field) { return field.path == path; });
}

ListedStrategy read_entry(const std::string& entry) {
  std::vector<std::string> words = parts_of(entry, ':');
  ListedStrategy listed{entry, words.front(), {}};
  std::string own, common;
  words.erase(words.begin());
  for (const std::string& option : words) {
    const auto equals = option.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == option.size())
      fail("--strategies: '{}' in '{}' is not allowed (use OPTION=VALUE, as in graph:overlap=false)", option,
           entry);
    const std::string name = option.substr(0, equals), member = name + ": " + option.substr(equals + 1);
    if (is_common(listed.kind, name))
      common += ", " + member;
    else
      own += (own.empty() ? "" : ", ") + member;
  }
  const std::string block = own.empty() ? "" : fmt::format(", {}: {{{}}}", listed.kind, own);
  listed.change = fmt::format("strategy={{kind: {}{}{}}}", listed.kind, block, common);
  return listed;
}

}  // namespace

std::vector<ListedStrategy> read_strategy_list(const std::string& text) {
  std::vector<ListedStrategy> all;
  for (const std::string& entry : parts_of(text, ',')) {
    if (entry.empty() || entry.front() == ':')
      fail("--strategies: '{}' is not allowed (use KIND,KIND:OPTION=VALUE,…, as in graph,pipegcn)", text);
    all.push_back(read_entry(entry));
  }
  return all;
}

}  // namespace atl
