// What a rank opens before it trains: its threads, its device, and the way to other ranks; and how it reports
// to the user. Nothing waits for ever.
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

// A watch over the device of a rank that is alone. Ranks that exchange rows find a device that hangs before
// an exchange (comm/progress.h), or miss the rank. A rank alone exchanges nothing, and nobody misses it.

/// While it exists, the process ends with kStatusFailed, and says `last_words` on standard error, once the
/// stream has had `timeout` for what it was given and isn't done, its library doesn't say whether it is, or a
/// call into the library has lasted as long. call: Backend::call. The stream outlives it.
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
  std::uint64_t (*const call_)();  // null: the backend doesn't tell
  const std::chrono::seconds timeout_;
  const std::string last_words_;
  std::mutex lock_;
  std::condition_variable news_;
  bool over_ = false;
  std::thread thread_;
};

// How a rank starts.

/// A number that mpirun sets before MPI is started; `otherwise` without mpirun.
int from_mpirun(const char* variable, int otherwise);

/// This machine's name, or its pod's.
std::string host_name();

/// Words of a rank's command line that say when the run began: `started` by this machine's steady clock at
/// `now`. Rank 0, which counts from there, may be on another machine, whose clock has nothing to do with it:
/// it gets the seconds that were spent here.
std::vector<std::string> start_words(const RemoteHosts& hosts, double started, double now);
/// The same by the rank's own steady clock; its own start, where the words say nothing.
double start_seconds_of(const Arguments& arguments);

/// A rank among those that were started with it.
struct RankStart {
  Rank rank = 0;
  int ranks = 1;
  std::chrono::seconds timeout{300};
};

/// The threads that --threads or resources.cpu state. Otherwise this rank's share of its own machine's cores,
/// which all ranks there share, or of its pod's CPU quota, which is the pod's ranks' alone.
int own_threads(const Arguments& arguments, const Job& job, Rank rank);

/// The ranks of a machine share its GPUs in the order of their numbers from mpirun. Throws Error where the
/// job's device isn't there. Where its library doesn't answer within the time-out, the process ends.
RankDevice device_of(const Arguments& arguments, const Job& job, const RankStart& start);

/// Watches the device of a rank that is alone; null where the rank has no GPU, or others to miss it. The
/// device outlives it.
std::unique_ptr<DeviceWatch> watch_alone(const RankDevice& device, const RankStart& start);

/// Opens MPI with a time limit: if one rank never starts, the others would wait in MPI_Init for ever. Those
/// that did start end, and say why.
Communicator open_communicator(const RankStart& start, const RankDevice& device,
                               const Communicator::Options& options, std::string& why_staged);

/// Says why rows go by way of the host's memory, if they do, and where training.deterministic: false changes
/// nothing; for rank 0, once.
void say_ways(const RankDevice& device, const Job& job, const Communicator& comm,
              const std::string& why_staged);

// How ranks report to the user. `atoll run`, which sees the terminal, decides it once and passes it to `atoll
// train`.

/// Marks a rank's result on its standard error, for a starter on another machine; a space and
/// result_summary() follow.
inline constexpr const char* kResultMark = "atoll-result:";

/// "json", "quiet", "terminal" or "lines".
std::string chosen_style(const Arguments& arguments, std::FILE* out);

/// Where the `ranks` of one server serve their metrics: "[HOST:]PORT". Throws Error for anything else.
/// `starter`: the process that started them all; they find each other by its id.
MetricsPlace metrics_place(const std::string& address, std::vector<Rank> ranks, pid_t starter);

/// The observer that tells the user of rank 0's run on standard output, in a style.
std::unique_ptr<RunObserver> make_narrator(const std::string& style);

/// All observers of `rank`: on rank 0, progress or JSON, and the files in `output`. With `result_line`, rank
/// 0 writes its result to standard error.
std::unique_ptr<ObserverList> make_observers(const std::string& style, const std::filesystem::path& output,
                                             Rank rank, bool result_line);

// Which build this program is.

/// The linker's build id, in hexadecimal: two programs have the same one only if their code is the same.
/// Throws Error where the program was linked without one.
std::string build_id();

}  // namespace atl
