#include "tensor/sum_choices.h"

#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/error.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;            // of another one nothing is read: it is measured again
constexpr double kFastEnough = 0.95;  // times ours

/// "NVIDIA H100 80GB HBM3" as a part of a file's name.
std::string in_file_name(std::string_view device) {
  std::string name;
  for (const char c : device) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      name += char(std::tolower(static_cast<unsigned char>(c)));
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  return name;
}

Json to_json(const SumKind& kind, const SumChoice& choice) {
  return {{"arcs", kind.arcs},
          {"rows", kind.rows},
          {"sources", kind.cols},
          {"count", kind.count},
          {"columns", kind.columns},
          {"accumulated", kind.accumulated},
          {"fused", kind.fused},
          {"ownMilliseconds", choice.own},
          {"libraryMilliseconds", choice.library},
          {"chosen", choice.takes_library ? "library" : "own"}};
}

void read_one(const Json& from, std::map<SumKind, SumChoice>& all) {
  SumKind kind;
  from.at("arcs").get_to(kind.arcs);
  from.at("rows").get_to(kind.rows);
  from.at("sources").get_to(kind.cols);
  from.at("count").get_to(kind.count);
  from.at("columns").get_to(kind.columns);
  from.at("accumulated").get_to(kind.accumulated);
  from.at("fused").get_to(kind.fused);
  SumChoice choice;
  from.at("ownMilliseconds").get_to(choice.own);
  from.at("libraryMilliseconds").get_to(choice.library);
  const auto chosen = from.at("chosen").get<std::string>();
  if (chosen != "library" && chosen != "own") fail("chosen '{}' is neither 'own' nor 'library'", chosen);
  choice.takes_library = chosen == "library";
  all.emplace(std::move(kind), choice);
}

/// Adds what the file says and `all` doesn't know; of a file that isn't there, nothing.
void read_file(const std::filesystem::path& path, std::map<SumKind, SumChoice>& all) {
  std::ifstream in(path);
  if (!in) return;
  try {
    const Json file = Json::parse(in);
    if (file.at("format").get<int>() != kFormat) return;
    for (const Json& each : file.at("sums")) read_one(each, all);
  } catch (const std::exception& error) {
    fail("{}: is damaged ({}); delete it, and the next run measures again", path.string(), error.what());
  }
}

std::string text_of(const std::string& device, const std::map<SumKind, SumChoice>& all) {
  Json sums = Json::array();
  for (const auto& [kind, choice] : all) sums.push_back(to_json(kind, choice));
  return Json{{"format", kFormat}, {"device", device}, {"sums", std::move(sums)}}.dump(1) + "\n";
}

}  // namespace

SumChoice choose(double own, double library) {
  return {own, library, library <= kFastEnough * own};
}

void SumChoices::open(std::string_view device) {
  if (device_ == device) return;
  device_ = device;
  all_.clear();
  if (folder_.empty()) return;
  file_ = folder_ / fmt::format("sums-{}-{}.json", in_file_name(device), rank_);
  read_file(file_, all_);
}

const SumChoice* SumChoices::find(const SumKind& kind) const {
  const auto found = all_.find(kind);
  return found == all_.end() ? nullptr : &found->second;
}

const SumChoice* SumChoices::add(const SumKind& kind, const SumChoice& choice) {
  if (!can_keep_) return nullptr;
  can_keep_ = file_.empty() || write_with(kind, choice);
  if (!can_keep_) return nullptr;
  return &all_.emplace(kind, choice).first->second;
}

/// What other runs have kept meanwhile comes first.
bool SumChoices::write_with(const SumKind& kind, const SumChoice& choice) {
  try {
    read_file(file_, all_);
    if (all_.contains(kind)) return true;
    if (!std::filesystem::is_directory(folder_)) return false;
    std::map<SumKind, SumChoice> all = all_;
    all.emplace(kind, choice);
    write_file_atomically(file_, text_of(device_, all));
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace atl
