#include "command/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"

namespace atl {
namespace {

/// A command in CLI11's form. Options keep pointers into it, so it must not move.
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

/// The group of a command of two words, such as "dataset". Its description lists its commands, to which
/// `command` is added.
CLI::App* group_of(CLI::App& root, const std::string& word, const std::string& command) {
  for (CLI::App* group : root.get_subcommands([&](CLI::App* app) { return app->get_name() == word; }))
    return group->description(group->get_description() + ", " + command);
  CLI::App* group = root.add_subcommand(word, command);
  group->require_subcommand(1);
  return group;
}

std::vector<std::unique_ptr<Parser>> add_commands(CLI::App& root, std::span<const Command> commands) {
  std::vector<std::unique_ptr<Parser>> parsers;
  for (const auto& command : commands) {
    const auto words = words_of(command.name);
    CLI::App* parent = words.size() > 1 ? group_of(root, words[0], words[1]) : &root;
    CLI::App* app = parent->add_subcommand(words.back(), command.help);
    if (!command.caller.empty()) app->group("");
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
  if (error != std::errc() || end != text.data() + text.size())
    fail("{}: '{}' is not allowed (use a number, as in 0.5)", name, text);
  return value;
}

namespace {

/// Runs the command. Refused memory is reported like any other failure of the world: one line says which
/// command failed, and what helps.
int run_given(const Parser& parser, const std::string& called) {
  try {
    return parser.command->run(parser.arguments());
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {  // thrown for an array larger than any memory
  }
  fail("{}", out_of_memory("`" + called + "`"));
}

/// Ends the program after --help, or after words that aren't a command. `name`: the words before these,
/// "atoll run".
int end_early(const CLI::App& root, const CLI::ParseError& error, const std::string& name,
              const std::string& note = "") {
  if (error.get_exit_code() == 0) return root.exit(error);
  std::fprintf(stderr, "%s: %s; see %s --help%s\n", name.c_str(), error.what(), name.c_str(), note.c_str());
  return kStatusUsage;
}

int run_named(std::span<const Command> commands, const std::string& name) {
  for (const Command& command : commands)
    if (command.name == name) return command.run({});
  return kStatusUsage;
}

}  // namespace

int run_command_line(int count, char** words, std::span<const Command> commands) {
  if (const std::string message = misspelt_word({words + 1, words + count}, commands); !message.empty()) {
    std::fprintf(stderr, "%s\n", message.c_str());
    return kStatusUsage;
  }
  CLI::App root{"Atoll trains graph neural networks over ranks, on this machine or on others.", "atoll"};
  root.require_subcommand(1);
  root.set_version_flag("--version", "", "print versions");
  const auto parsers = add_commands(root, commands);
  try {
    root.parse(count, words);
  } catch (const CLI::CallForVersion&) {
    return run_named(commands, "version");
  } catch (const CLI::ParseError& error) {
    for (const auto& parser : parsers) {
      const Command& command = *parser->command;
      if (parser->app->parsed())
        return end_early(root, error, "atoll " + command.name, internal_note(command));
    }
    return end_early(root, error, root.get_name());
  }
  for (const auto& parser : parsers) {
    if (parser->app->parsed()) return run_given(*parser, "atoll " + parser->command->name);
  }
  return kStatusUsage;
}

int run_program(int count, char** words, const Command& command, const std::string& version) {
  CLI::App root{command.help, command.name};
  root.set_version_flag("--version", version, "print the version");
  Parser parser{&command, &root, {}, {}};
  for (const auto& argument : command.arguments) parser.add(argument);
  try {
    root.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return end_early(root, error, command.name);
  }
  return run_given(parser, command.name);
}

int printed(int status, const std::string& program) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "%s: standard output: can't be written; is the disk full?\n", program.c_str());
  return status == 0 ? kStatusFailed : status;
}

namespace {

bool is_option(const std::string& word) {
  return !word.empty() && word[0] == '-';
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The words that may follow `before` in a command, each once.
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

bool takes_value(const Command& command, const std::string& name) {
  return std::ranges::any_of(command.arguments, [&](const Argument& argument) {
    return !argument.value.empty() && long_name(argument) == name;
  });
}

/// A message about a manifest that is given without -f, or "". Only the word right after the command is
/// checked, since a later one may be an option's value.
std::string file_without_option(const Command& command, std::span<const std::string> words) {
  const auto is_file = [](const Argument& argument) { return argument.name == "-f,--file"; };
  if (words.empty() || is_option(words[0]) || std::ranges::none_of(command.arguments, is_file) ||
      std::ranges::any_of(command.arguments, is_positional))
    return "";
  return "atoll " + command.name + ": unexpected " + words[0] + " (did you mean -f " + words[0] + "?)";
}

/// A message about the first option that no command has, or whose value is empty. An empty variable of the
/// shell leaves `--output=`, for whose value CLI11 would take the next word, another option.
std::string misspelt_option(const Command& command, std::span<const std::string> words) {
  std::vector<std::string> known;
  for (const auto& argument : command.arguments) {
    if (!is_positional(argument)) known.push_back(long_name(argument));
  }
  known.push_back("--help");
  if (std::string message = file_without_option(command, words); !message.empty()) return message;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string &word = words[i], name = word.substr(0, word.find('='));
    if (name == "--") break;
    if (name.starts_with("--") && !contains(known, name)) {
      return "atoll " + command.name + ": unknown option " + name + suggestion(name, known) +
             internal_note(command);
    }
    const bool is_empty =
        word == name + "=" || (word == name && i + 1 < words.size() && words[i + 1].empty());
    if (is_empty && takes_value(command, name)) {
      return "atoll " + command.name + ": " + name +
             " is empty (give it a value, or leave it out; is a variable unset?)";
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

void say(const std::string& line) {
  std::fprintf(stderr, "atoll: %s\n", line.c_str());
}

}  // namespace atl
