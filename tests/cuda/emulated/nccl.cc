// NCCL's calls, made as slow as NCCL may be: a communicator is joined, and a group launched, only after a few
// questions, and until then every other call on it is refused. Blocking communicators are refused, too,
// because a lost rank would stop all.
#include <nccl.h>

#include <cstring>
#include <map>
#include <utility>

#include "clique.h"
#include "tensor/cuda/nccl_library.h"

struct ncclComm {
  std::shared_ptr<emulated::Clique> clique;
  int rank = 0, gpu = 0;
  enum class Stage { kJoins, kLaunches, kStands, kEnds } stage = Stage::kJoins;
  ncclResult_t result = ncclInProgress;
  int looks = 0;  // before it goes on
  emulated::Random draws{emulated::next_seed()};
  cudaStream_t stream = nullptr;
  std::vector<std::shared_ptr<emulated::Group>> groups;  // the last is launched at kLaunches
  bool ended = false;
};

namespace emulated {
namespace {

std::atomic<bool> hidden{false};
std::atomic<int> refused{-1}, refused_launch{-1};

/// The call answers that it is in progress; some looks later the stage is over.
ncclResult_t begin(ncclComm& comm, ncclComm::Stage stage) {
  comm.stage = stage;
  comm.looks = int(comm.draws.next() % 4);
  return comm.result = ncclInProgress;
}

/// What a thread has said since ncclGroupStart().
struct Said {
  bool grouped = false;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  std::vector<Op> ops;
  ncclResult_t fault = ncclSuccess;
};
thread_local Said said;

ncclResult_t refuse(ncclResult_t why) {
  return said.fault = why;
}

ncclResult_t say(const Op& op, ncclComm_t comm, cudaStream_t stream) {
  if (!said.grouped) return ncclInvalidUsage;  // one message by itself would wait for its peer's
  if (comm == nullptr || comm->result != ncclSuccess) return refuse(ncclInvalidArgument);
  if (op.peer < 0 || op.peer >= comm->clique->size()) return refuse(ncclInvalidArgument);
  if (said.comm != nullptr && (said.comm != comm || said.stream != stream)) return refuse(ncclInvalidUsage);
  if (gpu_of(op.data) != comm->gpu || !is_this_threads(stream) || this_threads_gpu() != comm->gpu)
    return refuse(ncclInvalidArgument);
  said.comm = comm, said.stream = stream;
  said.ops.push_back(op);
  return ncclSuccess;
}

ncclResult_t say_message(Does does, void* data, std::size_t bytes, ncclDataType_t type, int peer,
                         ncclComm_t comm, cudaStream_t stream) {
  if (type != ncclUint8) return refuse(ncclInvalidArgument);
  if (!said.ops.empty() && said.ops.front().does == Does::kSums) return refuse(ncclInvalidUsage);
  return say({does, data, bytes, peer}, comm, stream);
}

void launch_group(ncclComm& comm) {
  give_when(comm.stream, [clique = comm.clique, group = comm.groups.back()] { return clique->meet(group); });
}

}  // namespace

void hide_nccl(bool hides) {
  hidden = hides;
}
void refuse_to_join(int rank) {
  refused = rank;
}
void refuse_to_launch(int rank) {
  refused_launch = rank;
}

}  // namespace emulated

using emulated::begin;
using emulated::Clique;

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> last{0};
  std::memset(id, 0, sizeof *id);
  const int mine = ++last;
  std::memcpy(id->internal, &mine, sizeof mine);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (config->blocking != 0 || rank < 0 || rank >= ranks) return ncclInvalidArgument;
  static std::mutex mutex;
  static std::map<int, std::weak_ptr<Clique>> cliques;
  int number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  const std::lock_guard lock(mutex);
  std::shared_ptr<Clique> clique = cliques[number].lock();
  if (clique == nullptr) cliques[number] = clique = std::make_shared<Clique>(ranks);
  const int gpu = emulated::this_threads_gpu();
  if (clique->size() != ranks) return ncclInvalidArgument;
  *comm = new ncclComm{.clique = clique, .rank = rank, .gpu = gpu};
  if (rank == emulated::refused) {
    (*comm)->result = ncclSystemError;
    return ncclInProgress;
  }
  if (!clique->join(rank, gpu)) return ncclInvalidArgument;
  return begin(**comm, ncclComm::Stage::kJoins);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* result) {
  using Stage = ncclComm::Stage;
  if (comm->result == ncclInProgress && --comm->looks < 0) {
    comm->result = comm->stage == Stage::kJoins ? comm->clique->joined() : ncclSuccess;
    if (comm->stage == Stage::kLaunches && comm->rank == emulated::refused_launch) {
      comm->result = ncclSystemError;
    } else if (comm->stage == Stage::kLaunches) {
      emulated::launch_group(*comm);
    }
    if (comm->stage == Stage::kEnds) comm->ended = true;
    if (comm->result == ncclSuccess) comm->stage = Stage::kStands;
  }
  *result = comm->result;
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (comm->result != ncclSuccess) return ncclInvalidArgument;
  return begin(*comm, ncclComm::Stage::kEnds);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (!comm->ended) return ncclInvalidUsage;
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  for (const auto& each : comm->groups) comm->clique->give_up(*each);
  delete comm;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSystemError ? "unhandled system error" : "an error of the emulated NCCL";
}
const char* ncclGetLastError(ncclComm_t) {
  return "as the test wants it";
}

ncclResult_t ncclGroupStart() {
  emulated::said = {.grouped = true};
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  const emulated::Said now = std::exchange(emulated::said, {});
  if (!now.grouped) return ncclInvalidUsage;
  if (now.fault != ncclSuccess || now.comm == nullptr) return now.fault;
  std::erase_if(now.comm->groups, [](const auto& each) { return each.use_count() == 1; });
  now.comm->groups.push_back(std::make_shared<emulated::Group>(now.comm->rank, now.ops));
  now.comm->stream = now.stream;
  return begin(*now.comm, ncclComm::Stage::kLaunches);
}

ncclResult_t ncclSend(const void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return emulated::say_message(emulated::Does::kSends, const_cast<void*>(data), count, type, peer, comm,
                               stream);
}
ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return emulated::say_message(emulated::Does::kReceives, data, count, type, peer, comm, stream);
}
ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  const std::size_t width = type == ncclFloat32 ? sizeof(float) : sizeof(double);
  if (from != to || count == 0 || type == ncclUint8 || op != ncclSum)
    return emulated::refuse(ncclInvalidArgument);
  if (!emulated::said.ops.empty()) return emulated::refuse(ncclInvalidUsage);  // beside others: not played
  for (int peer = 0; comm != nullptr && peer < comm->clique->size(); ++peer) {
    if (peer == comm->rank) continue;
    const ncclResult_t result =
        emulated::say({emulated::Does::kSums, to, count * width, peer, width}, comm, stream);
    if (result != ncclSuccess) return result;
  }
  return ncclSuccess;
}

namespace atl::cuda {

const Nccl* nccl(std::string& why_not) {
  static constexpr Nccl played{.get_version = ncclGetVersion,
                               .get_unique_id = ncclGetUniqueId,
                               .init = ncclCommInitRankConfig,
                               .get_async_error = ncclCommGetAsyncError,
                               .finalize = ncclCommFinalize,
                               .destroy = ncclCommDestroy,
                               .abort = ncclCommAbort,
                               .error_string = ncclGetErrorString,
                               .last_error = ncclGetLastError,
                               .group_start = ncclGroupStart,
                               .group_end = ncclGroupEnd,
                               .send = ncclSend,
                               .receive = ncclRecv,
                               .all_reduce = ncclAllReduce};
  if (emulated::hidden) why_not = "NCCL is missing: no libnccl.so.2";
  return emulated::hidden ? nullptr : &played;
}

}  // namespace atl::cuda
