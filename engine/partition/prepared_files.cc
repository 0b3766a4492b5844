#include "partition/prepared_files.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <numeric>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "dataset/format/npy_writer.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// Writes arrays into a folder and keeps their checksums.
class Files {
 public:
  explicit Files(fs::path folder) : folder_(std::move(folder)) {}

  template <class T>
  void write(const std::string& name, Dtype dtype, const std::vector<T>& values) {
    const fs::path path = folder_ / (name + ".npy");
    write_npy(path, dtype, std::span<const T>(values));
    checksums_[name + ".npy"] = sha256_of_file(path);
  }

  void write(const std::string& prefix, const HaloGraph& g) {
    write(prefix + "offsets", Dtype::kInt64, g.graph.offsets);
    write(prefix + "columns", Dtype::kInt32, g.graph.columns);
    if (!g.graph.weights.empty()) write(prefix + "weights", Dtype::kFloat32, g.graph.weights);
    write(prefix + "halo_offsets", Dtype::kInt64, g.halo_offsets);
    write(prefix + "halo", Dtype::kInt32, g.halo);
    if (!g.by_id) return;
    write(prefix + "columns_by_id", Dtype::kInt32, g.by_id->columns);
    if (g.graph.weights.empty()) return;
    write(prefix + "weights_by_id", Dtype::kFloat32, g.by_id->weights);
    write(prefix + "degrees", Dtype::kFloat64, g.by_id->degrees);
  }

  const std::map<std::string, std::string>& checksums() const { return checksums_; }

 private:
  fs::path folder_;
  std::map<std::string, std::string> checksums_;
};

std::vector<VertexId> ids_as_rows(const std::vector<VertexId>& ids) {
  std::vector<VertexId> rows(ids.size());
  for (std::size_t row = 0; row < ids.size(); ++row) rows[std::size_t(ids[row])] = VertexId(row);
  return rows;
}

}  // namespace

void write_prepared(const fs::path& folder, const std::string& identity, const Prepared& prepared,
                    bool rows) {
  AtomicFolder place(folder, AtomicFolder::Existing::kReplace);
  Files files(place.path());
  files.write("ids", Dtype::kInt32, prepared.ids);
  files.write("", prepared.whole);
  if (rows) files.write("rows", Dtype::kInt32, ids_as_rows(prepared.ids));
  if (!prepared.induced.halo_offsets.empty()) files.write("induced_", prepared.induced);
  write_file_atomically(place.path() / "meta.json",
                        to_json({identity, prepared.part_offsets, prepared.slice_offsets, prepared.quality,
                                 files.checksums()}));
  place.commit();
}

void MappedHaloGraph::forget() const {
  for (const NpyArray* array : {&offsets, &columns, &weights, &halo_offsets, &halo})
    array->forget_rows(0, array->rows());
}

MappedHaloGraph map_halo_graph(const fs::path& folder, const std::string& prefix, Index vertices, int parts) {
  const auto open = [&](const char* name) { return NpyArray::open(folder / (prefix + name + ".npy")); };
  MappedHaloGraph g{open("offsets"), open("columns"), {}, open("halo_offsets"), open("halo")};
  expect_shape(g.offsets, {vertices + 1});
  expect_shape(g.columns, {g.offsets.values<std::int64_t>()[std::size_t(vertices)]});
  expect_shape(g.halo_offsets, {parts + 1});
  expect_shape(g.halo, {g.halo_offsets.values<std::int64_t>()[std::size_t(parts)]});
  g.weighted = fs::exists(folder / (prefix + "weights.npy"));
  if (g.weighted) {
    g.weights = open("weights");
    expect_shape(g.weights, {g.columns.rows()});
  }
  return g;
}

CsrView MappedHaloGraph::graph() const {
  const Index vertices = offsets.rows() - 1;
  return {vertices, vertices, offsets.values<std::int64_t>().data(), columns.values<std::int32_t>().data(),
          weighted ? weights.values<float>().data() : nullptr};
}

std::span<const VertexId> MappedHaloGraph::halo_of(int part) const {
  const auto begin = halo_offsets.values<std::int64_t>();
  const auto p = std::size_t(part);
  return halo.values<std::int32_t>().subspan(std::size_t(begin[p]), std::size_t(begin[p + 1] - begin[p]));
}

void MappedRowsById::forget() const {
  for (const NpyArray* array : {&columns, &weights, &degrees}) array->forget_rows(0, array->rows());
}

MappedRowsById map_rows_by_id(const fs::path& folder, const std::string& prefix,
                              const MappedHaloGraph& graph) {
  const auto open = [&](const char* name, Index rows) {
    NpyArray array = NpyArray::open(folder / (prefix + name + ".npy"));
    expect_shape(array, {rows});
    return array;
  };
  const Index arcs = graph.columns.rows();
  if (!graph.weighted) return {open("columns_by_id", arcs), {}, {}};
  return {open("columns_by_id", arcs), open("weights_by_id", arcs),
          open("degrees", graph.offsets.rows() - 1)};
}

GraphById MappedRowsById::view(CsrView graph) const {
  graph.columns = columns.values<std::int32_t>().data();
  if (graph.weights == nullptr) return {graph, {}};
  graph.weights = weights.values<float>().data();
  return {graph, degrees.values<double>()};
}

void verify_prepared(const fs::path& folder, const PreparedMeta& meta, Share share) {
  int number = 0;
  for (const auto& [name, checksum] : meta.checksums)
    if (number++ % share.of == share.number && sha256_of_file(folder / name) != checksum)
      fail(
          "{}: is damaged: it doesn't match its checksum; remove the folder, and the next run creates "
          "it again",
          (folder / name).string());
}

namespace {

using nlohmann::json;

constexpr int kFormat = 1;  // raised when files or numbering change, so that older graphs are made again

std::string name_of(GraphTransforms::SelfLoops loops) {
  using enum GraphTransforms::SelfLoops;
  return loops == kKeep ? "keep" : loops == kAdd ? "add" : "remove";
}

/// The checksum of the marks, written as one byte per vertex. Only a piece of these bytes is in memory at a
/// time.
std::string checksum_of(const VertexMarks& training) {
  Sha256 sum;
  std::array<char, 1 << 14> piece;
  for (Index begin = 0; begin < training.vertices(); begin += Index(piece.size())) {
    const Index count = std::min(Index(piece.size()), training.vertices() - begin);
    for (Index i = 0; i < count; ++i) piece[std::size_t(i)] = training[VertexId(begin + i)] ? 1 : 0;
    sum.update(piece.data(), std::size_t(count));
  }
  return sum.hex();
}

json to_json(const PartitionQuality& q) {
  return {{"cutArcs", q.cut_arcs},  {"volume", q.volume}, {"owned", q.owned},      {"halo", q.halo},
          {"boundary", q.boundary}, {"arcs", q.arcs},     {"training", q.training}};
}

PartitionQuality quality_from(const json& j) {
  PartitionQuality q;
  j.at("cutArcs").get_to(q.cut_arcs);
  j.at("volume").get_to(q.volume);
  j.at("owned").get_to(q.owned);
  j.at("halo").get_to(q.halo);
  j.at("boundary").get_to(q.boundary);
  j.at("arcs").get_to(q.arcs);
  j.at("training").get_to(q.training);
  q.set_balances();
  return q;
}

}  // namespace

std::string identity_of(const std::string& dataset_checksum, const PartitionOptions& options,
                        const GraphTransforms& transforms, const VertexMarks& training) {
  json identity{{"format", kFormat},
                {"dataset", dataset_checksum},
                {"partitioner", options.kind},
                {"parts", options.parts},
                {"seed", options.seed},
                {"objective", options.objective},
                {"symmetrise", transforms.symmetrise},
                {"selfLoops", name_of(transforms.self_loops)},
                {"induced", transforms.induced},
                {"training", checksum_of(training)}};
  if (transforms.by_id)
    identity["byId"] = true;  // only if asked for, so that older graphs keep their identity
  if (transforms.rows) identity["rows"] = true;
  if (options.groups > 1) identity["groups"] = options.groups;
  if (options.slices > 1) identity["slices"] = options.slices;  // likewise
  return identity.dump();
}

std::string to_json(const PreparedMeta& meta) {
  return json{{"identity", parse_json(meta.identity)},
              {"partOffsets", meta.part_offsets},
              {"sliceOffsets", meta.slice_offsets},
              {"quality", to_json(meta.quality)},
              {"files", meta.checksums}}
      .dump(1);
}

std::string partition_event(const PartitionOptions& options, const PartitionQuality& quality,
                            const std::filesystem::path& folder) {
  nlohmann::ordered_json event{{"event", "partition"},
                               {"parts", options.parts},
                               {"partitioner", options.kind},
                               {"objective", options.objective},
                               {"seed", options.seed}};
  const json stored = to_json(quality);
  for (const auto& [key, value] : stored.items()) event[key] = value;
  const Index vertices = std::accumulate(quality.owned.begin(), quality.owned.end(), Index(0));
  event["haloRatio"] = double(quality.volume) / double(vertices);
  event["balanceVertices"] = quality.balance_vertices;
  event["balanceArcs"] = quality.balance_arcs;
  event["balanceTraining"] = quality.balance_training;
  event["folder"] = folder.string();
  return event.dump(-1, ' ', false, json::error_handler_t::replace);
}

PreparedMeta read_prepared_meta(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) fail("{}: cannot be read; remove the folder, and the next run creates it again", path.string());
  try {
    const json j = parse_json(file);
    PreparedMeta meta{
        j.at("identity").dump(), j.at("partOffsets"), {}, quality_from(j.at("quality")), j.at("files")};
    // older files have none: one slice per part
    meta.slice_offsets = j.value("sliceOffsets", meta.part_offsets);
    return meta;
  } catch (const json::exception& e) {
    fail("{}: is damaged ({}); remove the folder, and the next run creates it again", path.string(),
         e.what());
  }
}

}  // namespace atl
