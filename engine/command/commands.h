// Every command of `atoll`. A new one is a file here that defines its Command, and one line in commands.cc.
// Three short ones are in commands.cc itself: explain, report, version.
#pragma once

#include <vector>

#include "command/command_line.h"

namespace atl {

std::vector<Command> commands();

Command run_command();
Command prepare_command();
Command supervise_command();
Command launch_command();
Command train_command();
Command dataset_import_command();
Command dataset_info_command();
Command dataset_generate_command();
Command dataset_export_command();
Command dataset_fetch_command();
Command dataset_verify_command();
Command partition_command();
Command plan_command();
Command simulate_command();
Command bench_machine_command();
Command bench_ops_command();
Command bench_epoch_command();
Command bench_batches_command();
Command bench_strategies_command();
Command predict_command();
Command report_command();
Command explain_command();
Command version_command();

}  // namespace atl
