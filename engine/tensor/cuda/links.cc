// One NCCL communicator over all ranks, with a stream of its own. It is non-blocking, so that a rank lost
// while others join, or while two of them connect, keeps nobody in a call. NCCL is polled, and gets the next
// group only when it has launched the one before.
#include "tensor/cuda/backend.h"

#include <cstring>
#include <deque>
#include <vector>

#include "tensor/cuda/nccl_library.h"
#include "tensor/cuda/recording.h"

namespace atl::cuda {
namespace {

constexpr int kOldestNccl = 21800;  // NCCL's number of the first version with everything used here

constexpr ncclDataType_t kRealType = sizeof(Real) == sizeof(float) ? ncclFloat32 : ncclFloat64;

const Nccl& library() {
  std::string why_not;
  const Nccl* const calls = nccl(why_not);
  if (calls == nullptr) fail("{}", why_not);
  return *calls;
}

int gpu_of(int rank_here) {
  int count = 0;
  ATOLL_MUST(cudaGetDeviceCount(&count));
  return rank_here % count;
}

class Links final : public DeviceLinks {
 public:
  Links(int gpu, Rank rank, int ranks, const LinkKey& key) : nccl_(library()) {
    ATOLL_MUST(cudaSetDevice(gpu));
    ATOLL_MUST(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    ncclUniqueId id;
    static_assert(sizeof id == sizeof key);
    std::memcpy(&id, key.data(), sizeof id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    check(nccl_.init(&comm_, ranks, id, rank, &config), "ncclCommInitRankConfig");
  }
  ~Links() override {
    if (comm_ != nullptr)
      return;  // abandon() may still be in its call, so the communicator and its stream stay
    for (const Group& each : groups_)
      if (each.over != nullptr) cudaEventDestroy(each.over);
    cudaStreamDestroy(stream_);
  }

  bool joined() override { return settled(); }

  void begin(int slot, std::span<const DeviceMessage> sends,
             std::span<const DeviceMessage> receives) override {
    Group& group = fresh_group(slot);
    group.sends.assign(sends.begin(), sends.end());
    group.receives.assign(receives.begin(), receives.end());
    enqueue(slot);
  }

  void begin_sum(int slot, std::span<Real> values) override {
    fresh_group(slot).sum = values;
    enqueue(slot);
  }

  bool done(int slot) override {
    launch_next();
    const Group& group = groups_[std::size_t(slot)];
    if (!group.launched) return false;
    const cudaError_t status = cudaEventQuery(group.over);
    if (status == cudaErrorNotReady) return false;
    cuda::must(status, "cudaEventQuery");
    return true;
  }

  bool left() override {
    if (!settled()) return false;
    if (!leaves_) {
      leaves_ = true;
      check(nccl_.finalize(comm_), "ncclCommFinalize");
      return false;
    }
    check(nccl_.destroy(comm_), "ncclCommDestroy");
    comm_ = nullptr;
    return true;
  }

  void abandon() override {
    nccl_.abort(comm_);  // the result doesn't matter
    comm_ = nullptr;
  }

 private:
  struct Group {
    std::vector<DeviceMessage> sends, receives;
    std::span<Real> sum;         // if not empty, the group has no messages
    cudaEvent_t over = nullptr;  // recorded when the group is launched
    bool launched = false;
  };

  Group& fresh_group(int slot) {
    if (groups_.size() <= std::size_t(slot)) groups_.resize(std::size_t(slot) + 1);
    Group& group = groups_[std::size_t(slot)];
    if (group.over == nullptr) ATOLL_MUST(cudaEventCreateWithFlags(&group.over, cudaEventDisableTiming));
    group.sends.clear(), group.receives.clear();
    group.sum = {};
    group.launched = false;
    return group;
  }
  void enqueue(int slot) {
    queue_.push_back(slot);
    launch_next();
  }

  void check(ncclResult_t result, const char* call) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    fail("{} failed: {}: {}", call, nccl_.error_string(result), nccl_.last_error(comm_));
  }

  /// Whether NCCL has finished the last request, so that it may get another.
  bool settled() {
    ncclResult_t result = ncclSuccess;
    check(nccl_.get_async_error(comm_, &result), "ncclCommGetAsyncError");
    check(result, "NCCL");
    return result == ncclSuccess;
  }

  /// Records the event after a group only once the group is on the stream.
  void launch_next() {
    while (settled()) {
      if (launches_) {
        Group& group = groups_[std::size_t(queue_.front())];
        ATOLL_MUST(cudaEventRecord(group.over, stream_));
        group.launched = true;
        queue_.pop_front();
        launches_ = false;
      }
      if (queue_.empty()) return;
      launch(groups_[std::size_t(queue_.front())]);
      launches_ = true;
    }
  }

  void launch(const Group& group) {
    check(nccl_.group_start(), "ncclGroupStart");
    for (const DeviceMessage& each : group.receives)
      check(nccl_.receive(each.data, std::size_t(each.bytes), ncclUint8, each.peer, comm_, stream_),
            "ncclRecv");
    for (const DeviceMessage& each : group.sends)
      check(nccl_.send(each.data, std::size_t(each.bytes), ncclUint8, each.peer, comm_, stream_), "ncclSend");
    if (!group.sum.empty())
      check(nccl_.all_reduce(group.sum.data(), group.sum.data(), group.sum.size(), kRealType, ncclSum, comm_,
                             stream_),
            "ncclAllReduce");
    check(nccl_.group_end(), "ncclGroupEnd");
  }

  const Nccl& nccl_;
  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::vector<Group> groups_;  // by slot
  std::deque<int> queue_;      // slots whose groups haven't been launched yet
  bool launches_ = false;      // the first of them is being launched
  bool leaves_ = false;
};

template <std::size_t N>
void write(std::array<char, N>& to, const std::string& text) {
  text.copy(to.data(), N - 1);
}

LinkOffer offer(int rank_here) {
  LinkOffer mine;
  cudaDeviceProp properties{};
  ATOLL_MUST(cudaGetDeviceProperties(&properties, gpu_of(rank_here)));
  std::string device;
  for (const char byte : properties.uuid.bytes)
    device += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  device.copy(mine.device.data(), mine.device.size());
  std::string why_not;
  int version = 0;
  if (const Nccl* const calls = nccl(why_not); calls != nullptr) {
    calls->get_version(&version);
    if (version < kOldestNccl)
      why_not = fmt::format("NCCL's version {} is older than {}", version, kOldestNccl);
  }
  write(mine.library, fmt::format("NCCL {}", version));
  write(mine.why_not, why_not);
  return mine;
}

LinkKey make_key() {
  ncclUniqueId id;
  const ncclResult_t result = library().get_unique_id(&id);
  if (result != ncclSuccess)
    fail("ncclGetUniqueId failed: {}: {}", library().error_string(result), library().last_error(nullptr));
  LinkKey key;
  std::memcpy(key.data(), &id, sizeof id);
  return key;
}

std::unique_ptr<DeviceLinks> join(int rank_here, Rank rank, int ranks, const LinkKey& key) {
  return std::make_unique<Links>(gpu_of(rank_here), rank, ranks, key);
}

}  // namespace

const LinkMaker& links() {
  static constexpr LinkMaker maker{"nccl", offer, make_key, join};
  return maker;
}

}  // namespace atl::cuda
