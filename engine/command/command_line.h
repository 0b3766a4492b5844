// Tables of commands and their arguments make --help, the parser, and messages about typos. Only
// command_line.cc uses CLI11.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace atl {

/// One argument of a command.
struct Argument {
  std::string name;   // "--ranks", "-f,--file"; without dashes it is positional: "SRC"
  std::string value;  // name of its value in --help: "N"; empty: a flag, or a positional argument
  std::string help;
  bool required = false;
  bool repeats = false;
};

/// The values that the user gave, by the arguments' long names.
class Arguments {
 public:
  bool has(const std::string& name) const { return values_.contains(name); }
  /// The value given last, or `otherwise`.
  std::string get(const std::string& name, const std::string& otherwise = "") const;
  std::vector<std::string> all(const std::string& name) const;
  /// The value as an integer, or `otherwise`. Throws Error, which names the argument, where the value isn't
  /// an integer in the range.
  long integer(const std::string& name, long otherwise, long minimum, long maximum) const;
  double number(const std::string& name, double otherwise) const;

  void add(const std::string& name, std::string value) { values_[name].push_back(std::move(value)); }

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

/// One command, "run" or "dataset import".
struct Command {
  std::string name;
  std::string help;
  std::vector<Argument> arguments;
  int (*run)(const Arguments&);  // returns the exit status; throws Error for what a user can mend
  std::string caller{};          // the program that calls it; --help lists only commands for people
};

/// Exit statuses. They mean the same for every command.
inline constexpr int kStatusFailed = 1;  // something in the world is not as it must be; the message says what
inline constexpr int kStatusUsage = 2;   // the command line is wrong
inline constexpr int kStatusInterrupted = 130;

/// The longest --timeout, seconds.
inline constexpr long kLongestTimeout = 1'000'000;

/// The largest --trace-epochs.
inline constexpr long kMostTraceEpochs = 1000;

/// Parses the words and runs the command; returns the exit status. Messages go to standard error. --version
/// runs the command "version".
int run_command_line(int count, char** words, std::span<const Command> commands);

/// Runs a program that is a single command and has the command's name; --version prints `version`.
int run_program(int count, char** words, const Command& command, const std::string& version);

/// The exit status of a program that has printed its result. If the output can't be written, the program has
/// failed, and a message says so.
int printed(int status, const std::string& program);

// Finds words that no command or option has, and options without their value, to report them before parsing.

bool is_positional(const Argument& argument);

/// The long name of an argument: "--file" for "-f,--file".
std::string long_name(const Argument& argument);

/// The words of a command: {"dataset", "import"} for "dataset import".
std::vector<std::string> words_of(const std::string& command);

/// "; atoll train is internal: atoll run calls it", or "" for a command that people call.
std::string internal_note(const Command& command);

/// A message about the first command or option of `words` that is misspelt or has an empty value, or "".
/// `words` don't begin with the program's name.
std::string misspelt_word(const std::vector<std::string>& words, std::span<const Command> commands);

/// Prints "atoll: LINE" on standard error for the user.
void say(const std::string& line);
/// Takes the place of say() with --quiet.
inline void say_nothing(const std::string&) {}

}  // namespace atl
