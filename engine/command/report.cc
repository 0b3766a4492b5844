// atoll report: makes report.html of a run's folder again, of a finished run or one that is under way.
#include <cstdio>
#include <filesystem>

#include "command/commands.h"
#include "telemetry/report/report.h"
#include "telemetry/run_folder.h"

namespace atl {
namespace {

int run(const Arguments& arguments) {
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
      run};
}

}  // namespace atl
