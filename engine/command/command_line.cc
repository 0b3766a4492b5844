#include "command/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "job/nearest.h"

namespace atl {
namespace {

bool is_positional(const Argument& argument) {
  return argument.name[0] != '-';
}

/// "-f,--file" → "--file"
std::string long_name(const Argument& argument) {
  const auto comma = argument.name.rfind(',');
  return comma == std::string::npos ? argument.name : argument.name.substr(comma + 1);
}

std::vector<std::string> words_of(const std::string& name) {
  const auto space = name.find(' ');
  return space == std::string::npos ? std::vector{name}
                                    : std::vector{name.substr(0, space), name.substr(space + 1)};
}

/// A command's CLI11 form. Options keep pointers into it, so it stays where it is.
struct Parser {
  const Command* command;
  CLI::App* app;
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, bool> flags;

  void add(const Argument& argument) {
    const std::string key = long_name(argument);
    CLI::Option* option;
    if (argument.value.empty() && !is_positional(argument)) {
      option = app->add_flag(argument.name, flags[key], argument.help);
    } else {
      option = app->add_option(argument.name, texts[key], argument.help)->allow_extra_args(false);
      if (!argument.repeats) option->expected(1);
      option->type_name(argument.value.empty() ? " " : argument.value);
    }
    option->required(argument.required);
  }

  Arguments arguments() const {
    Arguments all;
    for (const auto& [name, values] : texts) {
      for (const auto& value : values) all.add(name, value);
    }
    for (const auto& [name, given] : flags) {
      if (given) all.add(name, "");
    }
    return all;
  }
};

/// What the user may have meant by a word that no command or argument is called. Empty: nothing is wrong with
/// names.
std::string misspelt(int count, char** words, std::span<const Command> commands) {
  std::vector<std::string> first;
  for (const auto& command : commands) {
    const std::string word = words_of(command.name)[0];
    if (!command.hidden && (first.empty() || first.back() != word)) first.push_back(word);
  }
  if (count < 2 || words[1][0] == '-') return "";
  std::string name = words[1];
  std::vector<std::string> second;
  for (const auto& command : commands) {
    const auto parts = words_of(command.name);
    if (parts[0] == name && parts.size() > 1) second.push_back(parts[1]);
  }
  if (!second.empty() && count > 2 && words[2][0] != '-') name += std::string(" ") + words[2];
  for (const auto& command : commands) {
    if (command.name != name) continue;
    std::vector<std::string> known{"--help"};
    for (const auto& argument : command.arguments) {
      if (!is_positional(argument)) known.push_back(long_name(argument));
    }
    for (int i = 2; i < count; ++i) {
      const std::string word = std::string(words[i]).substr(0, std::string(words[i]).find('='));
      if (word == "--") break;
      if (word.starts_with("--") && std::find(known.begin(), known.end(), word) == known.end()) {
        return "atoll " + name + ": unknown option " + word + suggestion(word, known);
      }
    }
    return "";
  }
  if (second.empty()) return "atoll: unknown command " + name + suggestion(name, first);
  return count > 2 && words[2][0] != '-' ? "atoll: unknown command " + name + suggestion(words[2], second)
                                         : "";
}

/// Where commands of two words hang: "dataset".
CLI::App* group_of(CLI::App& root, const std::string& word) {
  for (CLI::App* group : root.get_subcommands([&](CLI::App* app) { return app->get_name() == word; }))
    return group;
  CLI::App* group = root.add_subcommand(word, "see atoll " + word + " --help");
  group->require_subcommand(1);
  return group;
}

std::vector<std::unique_ptr<Parser>> add_commands(CLI::App& root, std::span<const Command> commands) {
  std::vector<std::unique_ptr<Parser>> parsers;
  for (const auto& command : commands) {
    const auto words = words_of(command.name);
    CLI::App* parent = words.size() > 1 ? group_of(root, words[0]) : &root;
    CLI::App* app = parent->add_subcommand(words.back(), command.help);
    if (command.hidden) app->group("");
    auto& parser = parsers.emplace_back(std::make_unique<Parser>(Parser{&command, app, {}, {}}));
    for (const auto& argument : command.arguments) parser->add(argument);
  }
  return parsers;
}

}  // namespace

std::string Arguments::get(const std::string& name, const std::string& otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? otherwise : found->second.back();
}

std::vector<std::string> Arguments::all(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

long Arguments::integer(const std::string& name, long otherwise, long minimum, long maximum) const {
  if (!has(name)) return otherwise;
  const std::string text = get(name);
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < minimum || value > maximum) {
    fail("{}: '{}' is not allowed (use an integer, {} … {})", name, text, minimum, maximum);
  }
  return value;
}

double Arguments::number(const std::string& name, double otherwise) const {
  if (!has(name)) return otherwise;
  const std::string text = get(name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail("{}: '{}' is not a number", name, text);
  return value;
}

int run_command_line(int count, char** words, std::span<const Command> commands) {
  if (const std::string message = misspelt(count, words, commands); !message.empty()) {
    std::fprintf(stderr, "%s\n", message.c_str());
    return kStatusUsage;
  }
  CLI::App root{"Atoll trains graph neural networks on several ranks of this machine.", "atoll"};
  root.require_subcommand(1);
  const auto parsers = add_commands(root, commands);
  try {
    root.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return root.exit(error) == 0 ? 0 : kStatusUsage;
  }
  for (const auto& parser : parsers) {
    if (parser->app->parsed()) return parser->command->run(parser->arguments());
  }
  return kStatusUsage;
}

}  // namespace atl
