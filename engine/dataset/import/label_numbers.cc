#include "dataset/import/label_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace atl {
namespace {

template <class Label>
NumberedLabels number(std::span<const Label> labels, const Label& unlabelled) {
  std::vector<Label> distinct(labels.begin(), labels.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::erase(distinct, unlabelled);
  NumberedLabels found;
  for (const Label& label : distinct) found.names.push_back(fmt::format("{}", label));
  found.classes.reserve(labels.size());
  for (const Label& label : labels) {
    const auto place = std::lower_bound(distinct.begin(), distinct.end(), label) - distinct.begin();
    found.classes.push_back(label == unlabelled ? -1 : std::int32_t(place));
  }
  return found;
}

}  // namespace

NumberedLabels number_labels(std::span<const std::int32_t> labels) {
  return number(labels, std::int32_t(-1));
}

NumberedLabels number_labels(std::span<const std::string> labels) {
  return number(labels, std::string());
}

std::string not_classes(std::span<const double> labels) {
  constexpr std::size_t kMostNames = 100;  // and at least two vertices for each
  std::vector<double> distinct(labels.begin(), labels.end());
  std::erase_if(distinct, [](double label) { return std::isnan(label); });
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const std::string text =
      "Atoll predicts classes, not numbers (regression isn't built); classes are whole numbers of 32 bits, or text";
  if (distinct.size() > std::min(kMostNames, labels.size() / 2)) return text;
  return fmt::format("{}: if these {} values are names of classes, save labels.astype(str)", text,
                     distinct.size());
}

std::vector<std::int32_t> classes_of_one_hot(std::span<const std::uint8_t> rows, std::size_t classes) {
  std::vector<std::int32_t> found;
  for (std::size_t begin = 0; begin < rows.size(); begin += classes) {
    const auto row = rows.subspan(begin, classes);
    const auto ones = std::count(row.begin(), row.end(), 1);
    if (ones > 1) return {};
    found.push_back(ones == 0 ? -1 : std::int32_t(std::find(row.begin(), row.end(), 1) - row.begin()));
  }
  return found;
}

}  // namespace atl
