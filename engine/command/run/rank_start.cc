#include "command/run/rank_start.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"
#include "comm/linked_transport.h"
#include "comm/transports.h"
#include "command/command_line.h"
#include "command/job_data.h"
#include "launch/places.h"
#include "launch/rank_guard.h"
#include "telemetry/progress.h"
#include "telemetry/rank_meter.h"
#include "telemetry/run_folder.h"
#include "tensor/backend.h"

namespace atl {
namespace {

constexpr std::chrono::milliseconds kBetweenMarks{1000}, kUntilReached{100};

}  // namespace

DeviceWatch::DeviceWatch(const DeviceStream& stream, std::uint64_t (*call)(), std::chrono::seconds timeout,
                         std::string last_words)
    : stream_(stream), call_(call), timeout_(timeout), last_words_(std::move(last_words)), thread_([this] {
        watch();
      }) {}

DeviceWatch::~DeviceWatch() {
  {
    std::lock_guard guard(lock_);
    over_ = true;
  }
  news_.notify_one();
  thread_.join();
}

/// Watches the device until the watch is over. A device that fails still answers all calls, so the thread
/// that gives it work learns of the failure and reports it.
void DeviceWatch::watch() try {
  DeviceStream::Mark reached = 0;
  while (!wait_until_over(kBetweenMarks) && watch_marks(reached) && watch_call()) {
  }
} catch (const std::exception&) {
}

/// Waits until the device reaches the newest mark of its stream, and ends the process if that takes longer
/// than the time-out. The deadline also covers newest() and reached(), because a thread that hangs in the
/// library may hold the lock that they need. Returns false when the watch is over.
bool DeviceWatch::watch_marks(DeviceStream::Mark& reached) {
  const EndUnlessDone deadline(timeout_, last_words_, kStatusFailed);
  const DeviceStream::Mark newest = stream_.newest();
  if (newest == reached) return true;
  while (!stream_.reached(newest))
    if (wait_until_over(kUntilReached)) return false;
  reached = newest;
  return true;
}

/// Watches a call into the library, because a thread that hangs in a call sets no further mark. Returns false
/// when the watch is over.
bool DeviceWatch::watch_call() {
  const std::uint64_t call = call_ == nullptr ? 0 : call_();
  if (call == 0) return true;
  const EndUnlessDone deadline(timeout_, last_words_, kStatusFailed);
  while (call_() == call)
    if (wait_until_over(kUntilReached)) return false;
  return true;
}

bool DeviceWatch::wait_until_over(std::chrono::milliseconds pause) {
  std::unique_lock lock(lock_);
  return news_.wait_for(lock, pause, [this] { return over_; });
}

namespace {

/// This rank's number on its machine.
int rank_here() {
  return from_mpirun("OMPI_COMM_WORLD_LOCAL_RANK", 0);
}

}  // namespace

int from_mpirun(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

std::string host_name() {
  char host[256] = "this machine";
  gethostname(host, sizeof host - 1);
  return host;
}

std::vector<std::string> start_words(const RemoteHosts& hosts, double started, double now) {
  if (hosts.addresses.empty() || hosts.addresses.front() == host_name())
    return {"--started", fmt::format("{}", started)};
  return {"--spent", fmt::format("{}", now - started)};
}

double start_seconds_of(const Arguments& a) {
  return a.number("--started", steady_seconds() - a.number("--spent", 0));
}

int own_threads(const Arguments& a, const Job& job, Rank rank) {
  if (const auto stated = stated_threads(a, job)) return *stated;
  int in_pod = from_mpirun("OMPI_COMM_WORLD_LOCAL_SIZE", 1), on_machine = in_pod;
  if (const std::string places = a.get("--places"); !places.empty()) {
    in_pod = int(ranks_beside(places, rank).size());
    on_machine = ranks_on_node(places, rank);
  }
  return std::max(1, available_cores() / (quota_cores() > 0 ? in_pod : on_machine));
}

RankDevice device_of(const Arguments& a, const Job& job, const RankStart& start) {
  const bool asks = job.resources.gpus > 0 && !a.has("--device");
  const DeviceChoice choice = asks ? DeviceChoice::kCuda : device_choice(a.get("--device", "auto"));
  std::optional<EndUnlessDone> deadline;
  if (has_backend() && choice != DeviceChoice::kCpu)
    deadline.emplace(start.timeout,
                     rank_failure(start.rank, host_name(),
                                  fmt::format("its GPU did not open within {} s; check that it answers "
                                              "(nvidia-smi), use --device cpu, or raise --timeout",
                                              start.timeout.count())),
                     kStatusFailed);
  RankDevice device =
      open_device(choice, rank_here(), gpu_options(a.get("--cuda-graphs", "on"), a.get("--sums", "atoll")));
  if (start.rank == 0 && !device.why_not_gpu.empty())
    std::fprintf(stderr, "atoll: the run uses the CPU: %s\n", device.why_not_gpu.c_str());
  for (const char* option : {"--cuda-graphs", "--sums"})
    if (start.rank == 0 && a.has(option) && device.device == Device::kCpu)
      std::fprintf(stderr, "atoll: %s changes nothing on a CPU\n", option);
  return device;
}

std::unique_ptr<DeviceWatch> watch_alone(const RankDevice& device, const RankStart& start) {
  if (device.device == Device::kCpu || start.ranks > 1) return nullptr;
  return std::make_unique<DeviceWatch>(
      device.stream(), backend().call, start.timeout,
      fmt::format("atoll: the GPU of {} has not finished its work within {} s; check that it still answers "
                  "(nvidia-smi), or raise --timeout",
                  host_name(), start.timeout.count()));
}

Communicator open_communicator(const RankStart& start, const RankDevice& device,
                               const Communicator::Options& options, std::string& why_staged) {
  const std::string words = fmt::format(
      "atoll: rank {} of {} on {}: communication did not start within {} s. Ranks that don't say this did not start or "
      "can't be reached: check their hosts, or raise --timeout",
      start.rank, start.ranks, host_name(), start.timeout.count());
  const EndUnlessDone deadline(start.timeout, words, kStatusFailed);
  auto transport = start.ranks > 1 ? make_mpi_transport() : std::move(make_local_group(1).front());
  const bool on_gpu = device.device == Device::kCuda;
  if (on_gpu)
    transport =
        make_staged_transport(std::move(transport), [] { return backend().open(rank_here()).stream; });
  if (has_backend())
    transport = make_linked_transport(std::move(transport), {.on_device = on_gpu,
                                                             .rank_here = rank_here(),
                                                             .timeout = options.timeout,
                                                             .why_staged = &why_staged,
                                                             .on_stuck = options.on_stuck});
  return {std::move(transport), options};
}

void say_ways(const RankDevice& device, const Job& job, const Communicator& comm,
              const std::string& why_staged) {
  if (device.device == Device::kCuda && !why_staged.empty())
    std::fprintf(stderr, "atoll: rows go from GPU to GPU by way of the host's memory: %s\n",
                 why_staged.c_str());
  if (job.training.deterministic || comm.sums_on_devices()) return;
  std::fprintf(stderr, "atoll: training.deterministic: false changes nothing here: %s\n",
               comm.size() == 1 ? "there is one rank"
                                : "NCCL doesn't link the ranks, and their hosts add gradients in rank order");
}

namespace {

ProgressStyle progress_of(const std::string& style) {
  if (style == "terminal") return ProgressStyle::kRedrawn;
  return style == "lines" ? ProgressStyle::kLines : ProgressStyle::kQuiet;
}

/// Writes the result's line in one piece, so that no other rank's line can split it.
class ResultLine : public RunObserver {
 public:
  void on_result(const RunRecord& run) override {
    const std::string line = fmt::format("{} {}\n", kResultMark, result_summary(run));
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
};

}  // namespace

std::string chosen_style(const Arguments& arguments, std::FILE* out) {
  if (arguments.has("--json")) return "json";
  switch (progress_style(out, arguments.has("--quiet"))) {
    case ProgressStyle::kRedrawn:
      return "terminal";
    case ProgressStyle::kLines:
      return "lines";
    case ProgressStyle::kQuiet:
      return "quiet";
  }
  return "lines";
}

MetricsPlace metrics_place(const std::string& address, std::vector<Rank> ranks, pid_t starter) {
  MetricsPlace place;
  const auto colon = address.rfind(':');
  if (colon != std::string::npos) place.host = address.substr(0, colon);
  const std::string port = colon == std::string::npos ? address : address.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), place.port);
  if (error != std::errc() || end != port.data() + port.size() || place.port < 0 || place.port > 65535) {
    fail("--metrics: '{}' is not allowed (use PORT or HOST:PORT)", address);
  }
  place.ranks = std::move(ranks);
  place.name = fmt::format("atoll-{}-{}", starter, place.port);
  return place;
}

std::unique_ptr<RunObserver> make_narrator(const std::string& style) {
  if (style == "json") return make_json_events(stdout, stderr);
  return make_progress(progress_of(style), stdout, stderr);
}

std::unique_ptr<ObserverList> make_observers(const std::string& style, const std::filesystem::path& output,
                                             Rank rank, bool result_line) {
  auto list = std::make_unique<ObserverList>();
  if (rank != 0) return list;
  list->add(make_narrator(style));
  list->add(make_run_folder_writer(output));
  if (result_line) list->add(std::make_unique<ResultLine>());
  return list;
}

}  // namespace atl
