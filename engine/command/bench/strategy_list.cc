#include "command/bench/strategy_list.h"

#include <algorithm>

#include "base/error.h"
#include "job/fields.h"

namespace atl {
namespace {

/// Split where no bracket is open: lists have commas, too.
std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int open = 0;
  for (const char c : text) {
    open += int(c == '[') - int(c == ']');
    if (c == separator && open <= 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// A field of every strategy; an unknown name is taken for one of the kind's own options.
bool is_common(const std::string& name) {
  const std::string path = "strategy." + name;
  return std::ranges::any_of(all_fields(), [&](const Field& field) { return field.path == path; });
}

ListedStrategy read_entry(const std::string& entry) {
  std::vector<std::string> words = parts_of(entry, ':');
  if (words.front().find('=') != std::string::npos)
    fail(
        "--strategies: '{}' is no strategy (join the options of one with ':', as in gnnpipe:stages=4:chunks=8)",
        entry);
  ListedStrategy listed{entry, words.front(), {}};
  std::string own, common;
  words.erase(words.begin());
  for (const std::string& option : words) {
    const auto equals = option.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == option.size())
      fail("--strategies: '{}' in '{}' is not allowed (use OPTION=VALUE, as in graph:overlap=false)", option,
           entry);
    const std::string name = option.substr(0, equals), member = name + ": " + option.substr(equals + 1);
    if (is_common(name))
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
