#include "train/predicted_labels.h"

#include <algorithm>
#include <charconv>

#include "base/atomic_file.h"
#include "base/error.h"
#include "dataset/format/npy_text.h"
#include "dataset/format/npy_writer.h"

namespace atl {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;  // written at a time

std::string key_of(std::size_t number) {
  return "atoll.class." + std::to_string(number);
}

/// What the array holds for each class, all of one width, and the code of its dtype.
struct Elements {
  std::string code;
  std::vector<std::string> of_class;
};

bool add_number(const std::string& name, Elements& out) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  if (error != std::errc() || end != name.data() + name.size()) return false;
  out.of_class.emplace_back(reinterpret_cast<const char*>(&value), sizeof value);
  return true;
}

Elements elements_of(std::span<const std::string> names) {
  Elements numbers{"<i8", {}};
  if (std::all_of(names.begin(), names.end(), [&](const std::string& n) { return add_number(n, numbers); }))
    return numbers;
  Elements text;
  std::size_t bytes = 4;
  for (const std::string& name : names) {
    text.of_class.push_back(ucs4_of_utf8(name));
    bytes = std::max(bytes, text.of_class.back().size());
  }
  for (std::string& element : text.of_class) element.resize(bytes, '\0');
  text.code = fmt::format("<U{}", bytes / 4);
  return text;
}

}  // namespace

void add_class_names(std::span<const std::string> names, Metadata& metadata) {
  for (std::size_t c = 0; c < names.size(); ++c) metadata[key_of(c)] = names[c];
}

std::vector<std::string> class_names_of(const Metadata& metadata) {
  std::vector<std::string> names;
  for (auto found = metadata.find(key_of(0)); found != metadata.end();
       found = metadata.find(key_of(names.size())))
    names.push_back(found->second);
  return names;
}

void write_predicted_labels(const std::filesystem::path& folder, std::span<const std::string> names) {
  const std::filesystem::path path = folder / "predicted_labels.npy";
  std::filesystem::remove(path);
  if (names.empty()) return;
  const Elements elements = elements_of(names);
  const NpyArray predictions = NpyArray::open(folder / "predictions.npy");
  AtomicFile file(path);
  file.write(npy_header(elements.code, predictions.shape()));
  std::string pending;
  for (const std::int32_t predicted : predictions.values<std::int32_t>()) {
    pending += elements.of_class[std::size_t(predicted)];
    if (pending.size() < kPieceBytes) continue;
    file.write(pending);
    pending.clear();
  }
  file.write(pending);
  file.commit();
}

}  // namespace atl
