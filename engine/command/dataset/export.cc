// atoll dataset export: a stored data set in files that NumPy and SciPy read.
#include <cstdio>

#include "command/commands.h"
#include "command/job_data.h"
#include "dataset/export.h"

namespace atl {
namespace {

int run(const Arguments& arguments) {
  const std::filesystem::path source = stored_dataset(arguments.get("DATASET"));
  export_dataset(Dataset::open(source), arguments.get("DST"), arguments.has("--replace"));
  std::printf("%s\n", arguments.get("DST").c_str());
  return 0;
}

}  // namespace

Command dataset_export_command() {
  return {"dataset export",
          "write a data set as .npy and .npz files for NumPy and SciPy",
          {{"DATASET", "", "folder of the data set, or its name under the data root", true},
           {"DST", "", "folder to create", true},
           {"--replace", "", "overwrite DST if it is an export"}},
          run};
}

}  // namespace atl
