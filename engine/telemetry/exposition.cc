#include "telemetry/exposition.h"

#include <map>
#include <sstream>
#include <vector>

namespace atl {
namespace {

/// One metric of all pages.
struct Family {
  std::string comments, samples;
};

class Joined {
 public:
  void add(const std::string& page) {
    std::istringstream lines(page);
    Family* family = nullptr;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("# ")) {
        family = &family_of(line);
        if (family->comments.find(line + "\n") == std::string::npos) family->comments += line + "\n";
      } else if (family != nullptr) {
        family->samples += line + "\n";
      }
    }
  }

  std::string text() const {
    std::string text;
    for (const std::string& name : names_) {
      const Family& family = families_.at(name);
      text += family.comments + family.samples;
    }
    return text;
  }

 private:
  /// "# HELP name …", "# TYPE name …"
  Family& family_of(const std::string& comment) {
    std::istringstream words(comment);
    std::string name;
    words >> name >> name >> name;
    const auto [found, is_new] = families_.try_emplace(name);
    if (is_new) names_.push_back(name);
    return found->second;
  }

  std::map<std::string, Family> families_;
  std::vector<std::string> names_;  // as they came
};

}  // namespace

std::string join_expositions(std::span<const std::string> pages) {
  Joined joined;
  for (const std::string& page : pages) joined.add(page);
  return joined.text();
}

}  // namespace atl
