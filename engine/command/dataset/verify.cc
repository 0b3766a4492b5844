// atoll dataset verify: reads every file and compares its checksum.
#include <cstdio>

#include "command/commands.h"
#include "command/job_data.h"
#include "dataset/dataset.h"

namespace atl {
namespace {

int run(const Arguments& arguments) {
  const Dataset dataset = Dataset::open(stored_dataset(arguments.get("DATASET")));
  dataset.verify();
  std::printf("%s: every file matches its checksum\n", dataset.folder().c_str());
  return 0;
}

}  // namespace

Command dataset_verify_command() {
  return {"dataset verify",
          "check every file against its checksum",
          {{"DATASET", "", "folder of the data set, or its name under the data root", true}},
          run};
}

}  // namespace atl
