#include "command/prepared_place.h"

#include <cstdlib>

namespace atl {

Argument prepared_argument() {
  return {"--prepared", "DIR", "folder for prepared graphs (ATOLL_PREPARED, or beside each data set)"};
}

std::filesystem::path prepared_place(const Arguments& a) {
  const char* variable = std::getenv("ATOLL_PREPARED");
  const std::string folder = a.get("--prepared", variable != nullptr ? variable : "");
  return folder.empty() ? std::filesystem::path() : std::filesystem::absolute(folder);
}

}  // namespace atl
