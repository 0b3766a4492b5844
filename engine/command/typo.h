// Words of a command line that no command or option is called: said before parsing, with the nearest known
// word.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "command/command_line.h"

namespace atl {

bool is_positional(const Argument& argument);

/// "-f,--file" → "--file"
std::string long_name(const Argument& argument);

/// "dataset import" → {"dataset", "import"}
std::vector<std::string> words_of(const std::string& command);

/// "; atoll train is internal: atoll run calls it", or "" for a command that people call.
std::string internal_note(const Command& command);

/// A message about the first misspelt command or option of `words` (without the program's name), or "".
std::string misspelt_word(const std::vector<std::string>& words, std::span<const Command> commands);

}  // namespace atl
