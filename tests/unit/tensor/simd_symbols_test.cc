// Loops compiled for wider instruction sets must not define anything that other code could be linked to: of a
// function that several objects define, the linker keeps one, perhaps the one that this machine cannot run.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace {

/// Global symbols that the objects in a folder define, one a line, demangled.
std::string defined_symbols(const std::filesystem::path& objects) {
  const std::string command = "nm --demangle --defined-only --extern-only " + objects.string() + "/*.o 2>&1";
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return output;
  for (char line[4096]; fgets(line, sizeof line, pipe) != nullptr;) output += line;
  pclose(pipe);
  return output;
}

TEST(SimdSymbols, StayInTheNamespaceOfTheirInstructionSet) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers define symbols of their own in every object";
#endif
  const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  for (const std::string level : {"baseline", "avx2", "avx512"}) {
    const auto objects = build / "engine/CMakeFiles" / ("atoll_loops_" + level + ".dir") / "tensor/cpu/simd";
    if (!std::filesystem::exists(objects)) GTEST_SKIP() << "no object files beside this test";
    const std::string symbols = defined_symbols(objects), home = "atl::simd::" + level + "::";
    EXPECT_NE(symbols.find(home + "spmm"), std::string::npos) << "nm says: " << symbols;
    for (std::size_t begin = 0; begin < symbols.size();) {
      const std::size_t end = symbols.find('\n', begin);
      const std::string line = symbols.substr(begin, end - begin);
      begin = end == std::string::npos ? symbols.size() : end + 1;
      const bool is_symbol = line.size() > 19 && line[16] == ' ' && line[18] == ' ';
      EXPECT_TRUE(!is_symbol || line.find(home) != std::string::npos) << level << " defines " << line;
    }
  }
}

}  // namespace
