// Where tests find files. Only one object (where.cc) is compiled with the paths, so that every other test's
// object is the same in each checkout and ccache shares it.
#pragma once

#include <filesystem>

// The repository's root.
const std::filesystem::path& source_folder();

// Data sets beside the repository, which may be absent: tests that need them are skipped then.
const std::filesystem::path& shared_data();
