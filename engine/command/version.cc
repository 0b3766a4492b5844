// atoll version: what was built, of what.
#include <cstdio>

#include "command/commands.h"
#include "train/run_setting.h"

namespace atl {
namespace {

int run(const Arguments&) {
  for (const auto& [name, version] : build_versions()) std::printf("%s %s\n", name.c_str(), version.c_str());
  return 0;
}

}  // namespace

Command version_command() {
  return {"version", "print versions", {}, run};
}

}  // namespace atl
