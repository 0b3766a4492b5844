#include "partition/prepared_graph.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/sha256.h"
#include "partition/prepared_files.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// Held by the one process that looks for a prepared graph or makes it; the others wait. The system releases
/// it when its holder dies. A graph that is there needs no lock, because it is whole: it may lie in a folder
/// that can't be written, or on a file system without locks.
class MakerLock {
 public:
  explicit MakerLock(const fs::path& graph) {
    const std::string path = graph.string() + ".lock";
    std::error_code error;
    fs::create_directories(graph.parent_path(), error);
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    const int why = error ? error.value() : errno;
    if (file_ < 0 && fs::exists(graph)) return;
    if (file_ < 0)
      fail(
          "{}: cannot be written: {}; name a folder for prepared graphs that can be, with --prepared or ATOLL_PREPARED (on "
          "a cluster: dataset.prepared), or run `atoll partition` where this one is writable",
          error ? graph.parent_path().string() : path, std::strerror(why));
    while (::flock(file_, LOCK_EX) != 0) {
      const int failed = errno;
      if (failed == EINTR) continue;
      ::close(std::exchange(file_, -1));
      if (fs::exists(graph)) return;
      fail(
          "{}: cannot be locked: {}; name a folder for prepared graphs on a file system with locks, with "
          "--prepared or ATOLL_PREPARED (on a cluster: dataset.prepared)",
          path, std::strerror(failed));
    }
  }
  ~MakerLock() {
    if (file_ >= 0) ::close(file_);
  }
  MakerLock(const MakerLock&) = delete;
  MakerLock& operator=(const MakerLock&) = delete;

 private:
  int file_ = -1;
};

fs::path folder_of(const Dataset& dataset, const PartitionOptions& options, const std::string& identity) {
  const std::string parts = options.slices == 1 ? fmt::format("{}", options.parts)
                                                : fmt::format("{}x{}", options.parts, options.slices);
  return dataset.prepared_folder() /
         fmt::format("{}-{}-{}", options.kind, parts, sha256_hex(identity).substr(0, 12));
}

/// If the data set has no self-loops, keeping and removing them give the same graph, so one prepared graph
/// serves both.
GraphTransforms as_prepared(const Dataset& dataset, GraphTransforms wanted) {
  using Loops = GraphTransforms::SelfLoops;
  if (dataset.meta().self_loops == 0 && wanted.self_loops == Loops::kKeep) wanted.self_loops = Loops::kRemove;
  return wanted;
}

void check_arguments(const Dataset& dataset, const GraphTransforms& transforms, const VertexMarks& training) {
  const Index vertices = dataset.meta().vertices;
  ATOLL_CHECK(training.empty() || training.vertices() == vertices, "{} marks for {} vertices",
              training.vertices(), vertices);
  ATOLL_CHECK(!transforms.induced || !training.empty(), "induced on no vertices");
}

}  // namespace

struct PreparedGraph::State {
  /// Rows by id of the whole graph or of the induced one.
  struct Half {
    std::once_flag once;
    MappedRowsById rows;
  };
  State(fs::path place, PreparedMeta described)
      : folder(std::move(place)),
        meta(std::move(described)),
        ids(NpyArray::open(folder / "ids.npy")),
        whole(map_halo_graph(folder, "", ids.rows(), parts())),
        checksum(sha256_of_file(folder / "meta.json")) {
    expect_shape(ids, {meta.part_offsets.back()});
    if (meta.checksums.count("induced_offsets.npy") != 0)
      induced = map_halo_graph(folder, "induced_", ids.rows(), parts());
    if (meta.checksums.count("rows.npy") == 0) return;
    rows = NpyArray::open(folder / "rows.npy");
    expect_shape(*rows, {ids.rows()});
  }
  int parts() const { return int(meta.part_offsets.size()) - 1; }

  GraphById by_id(Half& half, const std::string& prefix, const MappedHaloGraph& graph) {
    ATOLL_CHECK(meta.checksums.count(prefix + "columns_by_id.npy") != 0, "{} has no rows by id",
                folder.string());
    std::call_once(half.once, [&] { half.rows = map_rows_by_id(folder, prefix, graph); });
    return half.rows.view(graph.graph());
  }

  fs::path folder;
  PreparedMeta meta;
  NpyArray ids;
  std::optional<NpyArray> rows;
  MappedHaloGraph whole, induced;
  Half whole_by_id, induced_by_id;
  std::string checksum;
};

PreparedGraph PreparedGraph::make(const Dataset& dataset, const PartitionOptions& options,
                                  const GraphTransforms& wanted, const VertexMarks& training,
                                  const std::function<void(Index)>& before_making) {
  const GraphTransforms transforms = as_prepared(dataset, wanted);
  check_arguments(dataset, transforms, training);
  const DatasetMeta& meta = dataset.meta();
  const std::string identity = identity_of(meta.checksum, options, transforms, training);
  const fs::path folder = folder_of(dataset, options, identity);
  const MakerLock lock(folder);
  if (fs::exists(folder)) {
    verify_prepared(folder, read_prepared_meta(folder / "meta.json"));
  } else {
    if (before_making) before_making(predicted_prepare_bytes(meta.vertices, meta.arcs, options, transforms));
    const std::vector<std::uint8_t> marks = training.bytes();
    write_prepared(folder, identity, prepare(dataset.graph(), meta.symmetric, options, transforms, marks),
                   transforms.rows);
  }
  return open(dataset, options, transforms, training);
}

PreparedGraph PreparedGraph::open(const Dataset& dataset, const PartitionOptions& options,
                                  const GraphTransforms& wanted, const VertexMarks& training) {
  const GraphTransforms transforms = as_prepared(dataset, wanted);
  check_arguments(dataset, transforms, training);
  const std::string identity = identity_of(dataset.meta().checksum, options, transforms, training);
  const fs::path folder = folder_of(dataset, options, identity);
  const bool exists = fs::exists(folder);
  if (!exists && (options.slices > 1 || options.groups > 1))  // `atoll partition` has no such options
    fail("{}: does not exist; create it with `atoll prepare -f` and the job's manifest", folder.string());
  if (!exists)
    fail(
        "{}: does not exist; create it with `atoll partition {} --parts {} --method {}`, and the same --prepared, if any",
        folder.string(), dataset.folder().string(), options.parts, options.kind);
  PreparedMeta meta = read_prepared_meta(folder / "meta.json");
  if (meta.identity != identity || meta.part_offsets.size() != std::size_t(options.parts) + 1 ||
      meta.slice_offsets.size() != std::size_t(options.parts) * std::size_t(options.slices) + 1)
    fail("{}: was prepared from something else ({}); remove the folder, and the next run creates it again",
         folder.string(), meta.identity);
  return PreparedGraph(std::make_unique<State>(folder, std::move(meta)));
}

bool PreparedGraph::exists(const Dataset& dataset, const PartitionOptions& options,
                           const GraphTransforms& wanted, const VertexMarks& training) {
  const GraphTransforms transforms = as_prepared(dataset, wanted);
  check_arguments(dataset, transforms, training);
  const std::string identity = identity_of(dataset.meta().checksum, options, transforms, training);
  return fs::exists(folder_of(dataset, options, identity));
}

PreparedGraph::PreparedGraph(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedGraph::PreparedGraph(PreparedGraph&&) noexcept = default;
PreparedGraph& PreparedGraph::operator=(PreparedGraph&&) noexcept = default;
PreparedGraph::~PreparedGraph() = default;

int PreparedGraph::parts() const {
  return state_->parts();
}
std::span<const Index> PreparedGraph::part_offsets() const {
  return state_->meta.part_offsets;
}
int PreparedGraph::slices() const {
  return int(state_->meta.slice_offsets.size() - 1) / parts();
}
std::span<const Index> PreparedGraph::slice_offsets() const {
  return state_->meta.slice_offsets;
}
std::span<const VertexId> PreparedGraph::ids() const {
  return state_->ids.values<std::int32_t>();
}
std::span<const VertexId> PreparedGraph::rows() const {
  ATOLL_CHECK(state_->rows.has_value(), "{} has no rows by vertex", state_->folder.string());
  return state_->rows->values<std::int32_t>();
}
CsrView PreparedGraph::graph() const {
  return state_->whole.graph();
}
std::span<const VertexId> PreparedGraph::halo(int part) const {
  return state_->whole.halo_of(part);
}
CsrView PreparedGraph::induced_graph() const {
  return state_->induced.graph();
}
std::span<const VertexId> PreparedGraph::induced_halo(int part) const {
  return state_->induced.halo_of(part);
}
GraphById PreparedGraph::graph_by_id() const {
  return state_->by_id(state_->whole_by_id, "", state_->whole);
}
GraphById PreparedGraph::induced_graph_by_id() const {
  return state_->by_id(state_->induced_by_id, "induced_", state_->induced);
}
const PartitionQuality& PreparedGraph::quality() const {
  return state_->meta.quality;
}
void PreparedGraph::forget() const {
  state_->ids.forget_rows(0, state_->ids.rows());
  if (state_->rows) state_->rows->forget_rows(0, state_->rows->rows());
  state_->whole.forget();
  state_->induced.forget();
  state_->whole_by_id.rows.forget();
  state_->induced_by_id.rows.forget();
}
const fs::path& PreparedGraph::folder() const {
  return state_->folder;
}
const std::string& PreparedGraph::checksum() const {
  return state_->checksum;
}
void PreparedGraph::verify_share(const std::string& expected, int reader, int readers) const {
  if (expected != checksum())
    fail(
        "{}: isn't the graph that was prepared for this job: its SHA-256 is {} and not {}, so somebody has "
        "written there since; remove the folder, and start the job anew, which prepares the graph again",
        (folder() / "meta.json").string(), checksum(), expected);
  verify_prepared(folder(), state_->meta, {reader, readers});
}

}  // namespace atl
