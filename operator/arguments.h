// The operator's command line: flags, each of which the environment may set instead, as charts prefer.
#pragma once

#include "command/command_line.h"
#include "operator/run/options.h"

namespace atl::ctl {

/// The program as its one command, which runs `run`.
Command operator_command(int (*run)(const Arguments&));

/// Throws Error, which names the argument that isn't allowed.
Options options_of(const Arguments& arguments);

}  // namespace atl::ctl
