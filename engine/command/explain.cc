// atoll explain: the manifest's fields, from the table that parses them.
#include <cstdio>

#include "command/commands.h"
#include "job/explain.h"

namespace atl {
namespace {

int run(const Arguments& arguments) {
  const std::string text = arguments.has("--schema") ? json_schema() : explain(arguments.get("FIELD"));
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

Command explain_command() {
  return {"explain",
          "say what a field of the manifest means, takes and defaults to",
          {{"FIELD", "", "a path like training.optimizer; none: the whole manifest"},
           {"--schema", "", "print the JSON schema of a manifest instead"}},
          run};
}

}  // namespace atl
