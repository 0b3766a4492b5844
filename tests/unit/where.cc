#include "where.h"

const std::filesystem::path& source_folder() {
  static const std::filesystem::path folder = ATOLL_SOURCE_DIR;
  return folder;
}

const std::filesystem::path& shared_data() {
  static const std::filesystem::path folder = source_folder() / "../shared/data";
  return folder;
}
