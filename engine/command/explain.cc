// atoll explain: the manifest's fields, from the table that parses them.
#include <cstdio>

#include "command/commands.h"
#include "job/crd/crd.h"
#include "job/explain.h"

namespace atl {
namespace {

int run(const Arguments& arguments) {
  std::string text;
  if (arguments.has("--schema")) {
    text = json_schema();
  } else if (arguments.has("--crd")) {
    text = custom_resource_definition();
  } else {
    text = explain(arguments.get("FIELD"));
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

Command explain_command() {
  return {"explain",
          "say what a field of the manifest means, takes and defaults to",
          {{"FIELD", "", "a path like training.optimizer; none: the whole manifest"},
           {"--schema", "", "print the JSON schema of a manifest instead"},
           {"--crd", "", "print the CustomResourceDefinition that a cluster needs instead"}},
          run};
}

}  // namespace atl
