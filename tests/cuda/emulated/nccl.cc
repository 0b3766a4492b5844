// NCCL's calls. Whatever it may take long over, it does: a communicator is joined, and a group launched, only when somebody has asked
// a few times, and until then every other call on it is refused. Communicators that block are refused, too: a lost rank would stop all.
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

ncclResult_t say(Op op, int type, ncclComm_t comm, cudaStream_t stream) {
  const auto refuse = [](ncclResult_t why) { return said.fault = why; };
  if (!said.grouped) return ncclInvalidUsage;  // one message by itself would wait for its peer's
  if (comm == nullptr || comm->result != ncclSuccess || type != ncclUint8) return refuse(ncclInvalidArgument);
  if (op.peer < 0 || op.peer >= comm->clique->size()) return refuse(ncclInvalidArgument);
  if (said.comm != nullptr && (said.comm != comm || said.stream != stream)) return refuse(ncclInvalidUsage);
  if (gpu_of(op.data) != comm->gpu || !is_this_threads(stream) || this_threads_gpu() != comm->gpu)
    return refuse(ncclInvalidArgument);
  said.comm = comm, said.stream = stream;
  said.ops.push_back(op);
  return ncclSuccess;
}

void launch(ncclComm& comm) {
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
      emulated::launch(*comm);
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
  return emulated::say({true, const_cast<void*>(data), count, peer}, type, comm, stream);
}
ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return emulated::say({false, data, count, peer}, type, comm, stream);
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
                               .receive = ncclRecv};
  if (emulated::hidden) why_not = "NCCL is missing: no libnccl.so.2";
  return emulated::hidden ? nullptr : &played;
}

}  // namespace atl::cuda
