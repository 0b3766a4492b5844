#include "dataset/replaced.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/error.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// Of meta.json's text alone, which may be torn: a data set's names its format, an export's doesn't.
bool holds(const fs::path& folder, Made made) {
  std::ifstream file(folder / "meta.json", std::ios::binary);
  if (!file) return false;
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const bool is_dataset = text.find("\"atollDataset\"") != std::string::npos;
  return made == Made::kDataset ? is_dataset : !is_dataset && fs::exists(folder / "edges.npy");
}

bool lies_in(const fs::path& source, const fs::path& place) {
  const fs::path inner = fs::weakly_canonical(source), outer = fs::weakly_canonical(place);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace

void check_replaceable(const fs::path& place, Made made, const std::vector<fs::path>& sources) {
  if (!fs::exists(place)) return;
  for (const fs::path& source : sources)
    if (fs::exists(source) && lies_in(source, place))
      fail("{}: --replace would delete {}, which is read (choose another DST)", place.string(),
           source.string());
  const std::string_view what = made == Made::kDataset ? "a data set" : "an export";
  if (!fs::is_directory(place))
    fail("{}: --replace takes the place of {} alone, and this is a file (choose another DST, or remove it)",
         place.string(), what);
  if (fs::is_empty(place) || holds(place, made)) return;
  fail(
      "{}: --replace takes the place of {} alone, and this folder holds {} (choose another DST, or remove it)",
      place.string(), what, fs::directory_iterator(place)->path().filename().string());
}

}  // namespace atl
