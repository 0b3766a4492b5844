#include "command/commands.h"

#include <cstdio>
#include <filesystem>

#include "job/crd/crd.h"
#include "job/fields.h"
#include "telemetry/report/report.h"
#include "telemetry/run_folder.h"
#include "train/session.h"

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

// atoll explain: the manifest's fields, from the table that parses them.

namespace {

int explain_fields(const Arguments& arguments) {
  std::string text;
  if (arguments.has("--schema")) {
    text = json_schema();
  } else if (arguments.has("--crd")) {
    text = custom_resource_definition();
  } else if (arguments.has("--policy")) {
    text = policy_facts();
  } else {
    const std::string field = arguments.get("FIELD");
    text = arguments.has("--all") ? explain_all(field) : explain(field);
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

Command explain_command() {
  return {"explain",
          "explain a field of the manifest: meaning, allowed values, default",
          {{"FIELD", "", "path of the field, as in training.optimizer (the sections of the manifest)"},
           {"--all", "", "explain every field, or every field below FIELD"},
           {"--schema", "", "print the JSON schema of the manifest instead"},
           {"--crd", "", "print the CustomResourceDefinition for a cluster instead"},
           {"--policy", "",
            "print what the chart's admission policy reads of models, strategies and samplers instead"}},
          explain_fields};
}

// atoll version: prints what was built, and from which sources.

namespace {

int print_versions(const Arguments&) {
  for (const auto& [name, version] : build_versions()) std::printf("%s %s\n", name.c_str(), version.c_str());
  return 0;
}

}  // namespace

Command version_command() {
  return {"version", "print versions", {}, print_versions};
}

// atoll report: writes report.html again for the folder of a run, whether finished or under way.

namespace {

int write_again(const Arguments& arguments) {
  const std::filesystem::path folder = arguments.get("RUN");
  const std::filesystem::path page = arguments.get("--to", (folder / "report.html").string());
  write_report(read_run(folder), page);
  std::printf("%s\n", page.c_str());
  return 0;
}

}  // namespace

Command report_command() {
  return {
      "report",
      "write a run's report.html again, from the run's own files",
      {{"RUN", "", "output folder of the run", true}, {"--to", "FILE", "file to write (RUN/report.html)"}},
      write_again};
}

}  // namespace atl
