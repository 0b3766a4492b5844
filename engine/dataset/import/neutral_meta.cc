#include "dataset/import/neutral_meta.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "dataset/import/array_rows.h"
#include "dataset/import/id_map.h"

namespace atl {
namespace {

using nlohmann::json;

std::optional<Index> count(const json& object, const char* key, Index most, const std::string& name) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  const bool whole = found->is_number_integer() &&
                     (!found->is_number_unsigned() || found->get<std::uint64_t>() <= std::uint64_t(most));
  if (!whole || found->get<Index>() < 0 || found->get<Index>() > most) {
    fail("{}: the field '{}' is {}; allowed are whole numbers 0 … {}", name, key, in_quotes(found->dump()),
         most);
  }
  return found->get<Index>();
}

bool flag(const json& object, const char* key, const std::string& name) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return false;
  if (!found->is_boolean())
    fail("{}: the field '{}' is {}; allowed are true and false", name, key, in_quotes(found->dump()));
  return found->get<bool>();
}

std::vector<std::string> class_names(const json& object, int classes, const std::string& name) {
  const auto found = object.find("class_names");
  if (found == object.end() || found->is_null()) return {};
  const bool names = found->is_array() && std::all_of(found->begin(), found->end(),
                                                      [](const json& one) { return one.is_string(); });
  if (!names || int(found->size()) != classes) {
    fail("{}: the field 'class_names' is {}; it must be a list of num_classes ({}) texts", name,
         in_quotes(found->dump()), classes);
  }
  return found->get<std::vector<std::string>>();
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

NeutralMeta parse_neutral_meta(std::string_view text, const std::string& name) {
  const json object = json_or_discarded(text);
  if (!object.is_object()) fail("{}: is not a JSON object; correct it, or remove it", name);
  NeutralMeta meta;
  meta.vertices = count(object, "num_nodes", Index(1) << 31, name);
  meta.arcs = count(object, "num_edges", Index(1) << 48, name);
  meta.classes = int(count(object, "num_classes", 1 << 24, name).value_or(0));
  meta.class_names = class_names(object, meta.classes, name);
  meta.multi_label = flag(object, "multilabel", name);
  meta.symmetrise = flag(object, "symmetrise_for_standard_use", name);
  meta.directed = flag(object, "directed", name);
  meta.source = text_of(object, "source");
  meta.licence = text_of(object, "licence");
  const std::string own = text_of(object, "dataset_licence");
  if (!own.empty()) meta.licence += (meta.licence.empty() ? "data set: " : "; data set: ") + own;
  return meta;
}

NeutralMeta read_neutral_meta(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return parse_neutral_meta(text, path.string());
}

void write_neutral_meta(const DatasetMeta& meta, const std::filesystem::path& path) {
  json object = {{"name", meta.name},
                 {"num_nodes", meta.vertices},
                 {"num_edges", meta.arcs},
                 {"feature_dim", meta.features},
                 {"num_classes", meta.classes},
                 {"multilabel", meta.multi_label},
                 {"directed", !meta.symmetric},
                 {"symmetrise_for_standard_use", false},
                 {"num_self_loops", meta.self_loops},
                 {"source", meta.source},
                 {"licence", meta.licence},
                 {"transforms", meta.transforms},
                 {"atoll_checksum", meta.checksum}};
  if (!meta.class_names.empty()) object["class_names"] = meta.class_names;
  std::ofstream file(path, std::ios::binary);
  file << object.dump(1, ' ', false, json::error_handler_t::replace) << "\n";
  file.close();
  if (!file) fail("{}: cannot be written; free space there or choose another place", path.string());
}

namespace {

constexpr Index kLabelsPiece = 1 << 18;  // labels at a time

bool is_class(double label) {
  return label == std::floor(label) && std::abs(label) <= std::numeric_limits<std::int32_t>::max();
}

[[noreturn]] void fail_label(const NpyArray& labels, Index row, double label) {
  const bool whole = label == std::floor(label);
  fail(
      "{}: row {}: the label is {}{}", labels.name(), row, label,
      whole
          ? "; classes are whole numbers of 32 bits, or text: save labels.astype(str) to have others numbered"
          : ". " + not_classes(labels.read<double>()));
}

std::vector<std::int32_t> whole_numbers(const NpyArray& labels) {
  std::vector<std::int32_t> classes;
  classes.reserve(std::size_t(labels.rows()));
  std::vector<double> piece;
  for (Index begin = 0; begin < labels.rows(); begin += kLabelsPiece) {
    piece.resize(std::size_t(std::min(kLabelsPiece, labels.rows() - begin)));
    labels.read_rows(begin, Index(piece.size()), piece.data());
    for (const double label : piece) {
      if (!is_class(label) && !std::isnan(label)) fail_label(labels, Index(classes.size()), label);
      classes.push_back(std::isnan(label) ? -1 : std::int32_t(label));
    }
    labels.forget_rows(begin, begin + Index(piece.size()));
  }
  return classes;
}

std::vector<std::uint8_t> flags(const NpyArray& labels) {
  std::vector<std::uint8_t> targets;
  std::vector<double> row(std::size_t(labels.cols()));
  for (Index r = 0; r < labels.rows(); ++r) {
    labels.read_rows(r, 1, row.data());
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (row[c] != 0 && row[c] != 1) {
        fail(
            "{}: row {}: the target of class {} is {}; allowed are 0 and 1: give several labels per vertex as flags, "
            "or one class per vertex as ({}){}",
            labels.name(), r, c, row[c], labels.rows(),
            is_class(row[c]) ? "" : ". Atoll predicts classes, not numbers (regression isn't built)");
      }
      targets.push_back(std::uint8_t(row[c]));
    }
  }
  return targets;
}

/// What pandas and others write for a missing value, once it has become text.
constexpr std::string_view kMissing[] = {"nan", "NaN", "None", "<NA>", "NA", "N/A", "null"};

void add_text(const NpyArray& labels, DatasetWriter& writer) {
  const NumberedLabels numbered = number_labels(labels.strings());
  for (const std::string& name : numbered.names)
    if (std::ranges::find(kMissing, name) != std::end(kMissing))
      writer.warn(fmt::format(
          "{}: the text '{}' is taken as a class; where it means that a label is missing, save '' "
          "(series.fillna('').astype(str))",
          labels.name(), name));
  writer.set_labels(numbered.classes, int(numbered.names.size()), {labels.name()}, numbered.names);
}

}  // namespace

void add_labels(const NpyArray& labels, const NeutralMeta& meta, DatasetWriter& writer) {
  if (labels.shape().size() == 2 && labels.cols() > 1) {
    if (labels.rows() == 1) expect_a_row_each(labels, labels.cols());
    const std::vector<std::uint8_t> targets = flags(labels);
    const View<const std::uint8_t> rows{targets.data(), labels.rows(), labels.cols()};
    return meta.multi_label ? writer.set_targets(rows, {labels.name()})
                            : writer.set_flags(rows, {labels.name()});
  }
  labels.shape().size() == 2 ? expect_shape(labels, {-1, 1}) : expect_shape(labels, {-1});
  if (is_text(labels.dtype())) return add_text(labels, writer);
  writer.set_labels(whole_numbers(labels), meta.classes, {labels.name()}, meta.class_names);
}

}  // namespace atl
