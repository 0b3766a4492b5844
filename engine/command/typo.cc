#include "command/typo.h"

#include <algorithm>

#include "base/nearest.h"

namespace atl {
namespace {

bool is_option(const std::string& word) {
  return !word.empty() && word[0] == '-';
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// What may stand in place `depth` of a command whose words before that are `before`, each once.
std::vector<std::string> next_words(std::span<const Command> commands,
                                    const std::vector<std::string>& before) {
  std::vector<std::string> next;
  for (const auto& command : commands) {
    const auto words = words_of(command.name);
    if (!command.caller.empty() || words.size() <= before.size()) continue;
    const bool same = std::equal(before.begin(), before.end(), words.begin());
    if (same && !contains(next, words[before.size()])) next.push_back(words[before.size()]);
  }
  return next;
}

const Command* find_command(std::span<const Command> commands, const std::string& name) {
  for (const auto& command : commands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

std::string misspelt_option(const Command& command, std::span<const std::string> words) {
  std::vector<std::string> known;
  for (const auto& argument : command.arguments) {
    if (!is_positional(argument)) known.push_back(long_name(argument));
  }
  known.push_back("--help");
  for (const auto& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (name == "--") break;
    if (name.starts_with("--") && !contains(known, name)) {
      return "atoll " + command.name + ": unknown option " + name + suggestion(name, known) +
             internal_note(command);
    }
  }
  return "";
}

}  // namespace

bool is_positional(const Argument& argument) {
  return argument.name[0] != '-';
}

std::string long_name(const Argument& argument) {
  const auto comma = argument.name.rfind(',');
  return comma == std::string::npos ? argument.name : argument.name.substr(comma + 1);
}

std::vector<std::string> words_of(const std::string& command) {
  const auto space = command.find(' ');
  if (space == std::string::npos) return {command};
  return {command.substr(0, space), command.substr(space + 1)};
}

std::string internal_note(const Command& command) {
  if (command.caller.empty()) return "";
  return "; atoll " + command.name + " is internal: " + command.caller + " calls it";
}

std::string misspelt_word(const std::vector<std::string>& words, std::span<const Command> commands) {
  std::vector<std::string> so_far;
  for (const auto& word : words) {
    if (is_option(word)) return "";
    so_far.push_back(word);
    const std::string name = so_far.size() == 1 ? word : so_far[0] + " " + word;
    if (const Command* command = find_command(commands, name)) {
      return misspelt_option(*command, std::span(words).subspan(so_far.size()));
    }
    const std::vector<std::string> before(so_far.begin(), so_far.end() - 1);
    const auto known = next_words(commands, before);
    if (!contains(known, word)) return "atoll: unknown command " + name + suggestion(word, known);
  }
  return "";
}

}  // namespace atl
