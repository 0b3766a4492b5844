// Opens what a rank needs before it trains: its threads, its device, and the way to other ranks. Also decides
// how the rank reports to the user. Nothing waits for ever.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "comm/communicator.h"
#include "command/command_line.h"
#include "job/job.h"
#include "launch/mpirun_command.h"
#include "telemetry/metrics_server.h"
#include "tensor/device_stream.h"
#include "train/rank_device.h"

namespace atl {

// A watch over the device of a rank that is alone. Ranks that exchange rows notice a device that hangs before
// an exchange (comm/progress.h), or miss the rank that has it. A rank alone exchanges nothing, and no other
// rank misses it.

/// While this object exists, the process ends with kStatusFailed and says `last_words` on standard error in
/// three cases: the stream hasn't finished its work within `timeout`, its library doesn't answer for as long,
/// or a call into the library lasts as long. `call`: Backend::call. The stream outlives the watch.
class DeviceWatch {
 public:
  DeviceWatch(const DeviceStream& stream, std::uint64_t (*call)(), std::chrono::seconds timeout,
              std::string last_words);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

 private:
  void watch();
  bool watch_marks(DeviceStream::Mark& reached);
  bool watch_call();
  /// Waits for `pause`, or until the watch is over, and returns whether it is.
  bool wait_until_over(std::chrono::milliseconds pause);

  const DeviceStream& stream_;
  std::uint64_t (*const call_)();  // null: the backend doesn't report calls
  const std::chrono::seconds timeout_;
  const std::string last_words_;
  std::mutex lock_;
  std::condition_variable news_;
  bool over_ = false;
  std::thread thread_;
};

// How a rank starts.

/// A number that mpirun sets in the environment before MPI is started; `otherwise` without mpirun.
int from_mpirun(const char* variable, int otherwise);

/// This machine's name, or its pod's.
std::string host_name();

/// Words of a rank's command line that say when the run began: `started` by this machine's steady clock at
/// `now`. Rank 0 computes the start-up time from them. If it is on another machine, whose steady clock is
/// unrelated, it gets the seconds that were spent here.
std::vector<std::string> start_words(const RemoteHosts& hosts, double started, double now);
/// When the run began, by the rank's own steady clock; the rank's own start if the words say nothing.
double start_seconds_of(const Arguments& arguments);

/// A rank among those that were started with it.
struct RankStart {
  Rank rank = 0;
  int ranks = 1;
  std::chrono::seconds timeout{300};
};

/// The threads that --threads or resources.cpu state. Otherwise this rank's share of the cores of its
/// machine, which all ranks there share, or of the CPU quota of its pod, which only the pod's ranks share.
int own_threads(const Arguments& arguments, const Job& job, Rank rank);

/// The rank's device. The ranks of a machine share its GPUs in the order of their numbers from mpirun. Throws
/// Error where the job's device isn't there. If the device's library doesn't answer within the time-out, the
/// process ends.
RankDevice device_of(const Arguments& arguments, const Job& job, const RankStart& start);

/// Watches the device of a rank that is alone. Null if the rank has no GPU, or if there are other ranks. The
/// device outlives the watch.
std::unique_ptr<DeviceWatch> watch_alone(const RankDevice& device, const RankStart& start);

/// Opens MPI with a time limit: if one rank never starts, the others would wait in MPI_Init for ever. The
/// ranks that did start then end, and say why.
Communicator open_communicator(const RankStart& start, const RankDevice& device,
                               const Communicator::Options& options, std::string& why_staged);

/// Says why rows go by way of the host's memory, if they do, and if training.deterministic: false changes
/// nothing. Only rank 0 says this, once.
void say_ways(const RankDevice& device, const Job& job, const Communicator& comm,
              const std::string& why_staged);

// Decides how ranks report to the user. `atoll run`, which sees the terminal, decides this once and passes it
// to `atoll train`.

/// Marks a rank's result on its standard error, for a starter on another machine; a space and
/// result_summary() follow.
inline constexpr const char* kResultMark = "atoll-result:";

/// The style of reports: "json", "quiet", "terminal" or "lines".
std::string chosen_style(const Arguments& arguments, std::FILE* out);

/// The place where the `ranks` of one server serve their metrics, from "[HOST:]PORT". Throws Error for
/// anything else. `starter`: the process that started all these ranks, which find each other by its id.
MetricsPlace metrics_place(const std::string& address, std::vector<Rank> ranks, pid_t starter);

/// The observer that reports the run to the user, on rank 0's standard output and in the given style.
std::unique_ptr<RunObserver> make_narrator(const std::string& style);

/// All observers of `rank`. On rank 0 they show progress or JSON and write the files in `output`. With
/// `result_line`, rank 0 also writes its result to standard error.
std::unique_ptr<ObserverList> make_observers(const std::string& style, const std::filesystem::path& output,
                                             Rank rank, bool result_line);

// Tells which build this program is.

/// The linker's build id, in hexadecimal: two programs have the same one only if their code is the same.
/// Throws Error where the program was linked without one.
std::string build_id();

}  // namespace atl
