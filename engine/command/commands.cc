#include "command/commands.h"

namespace atl {

std::vector<Command> commands() {
  return {run_command(),
          prepare_command(),
          supervise_command(),
          launch_command(),
          train_command(),
          dataset_import_command(),
          dataset_info_command(),
          dataset_generate_command(),
          dataset_export_command(),
          dataset_fetch_command(),
          dataset_verify_command(),
          partition_command(),
          plan_command(),
          simulate_command(),
          bench_machine_command(),
          bench_ops_command(),
          bench_epoch_command(),
          bench_batches_command(),
          bench_strategies_command(),
          predict_command(),
          report_command(),
          explain_command(),
          version_command()};
}

}  // namespace atl
