// atoll explain: the manifest's fields, from the table that parses them.
#include <cstdio>

#include "command/commands.h"
#include "job/crd/crd.h"
#include "job/explain.h"
#include "job/models.h"

namespace atl {
namespace {

int run(const Arguments& arguments) {
  std::string text;
  if (arguments.has("--schema")) {
    text = json_schema();
  } else if (arguments.has("--crd")) {
    text = custom_resource_definition();
  } else if (arguments.has("--models")) {
    text = models_for_chart();
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
           {"--models", "", "print what the chart's admission rules ask of models instead"}},
          run};
}

}  // namespace atl
