#include "comm/progress.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <algorithm>
#include <exception>
#include <span>
#include <utility>

#include "base/error.h"
#include "comm/wait_board.h"

namespace atl {
namespace {

using std::chrono::nanoseconds;

constexpr std::chrono::microseconds kMarkPoll{50};
constexpr std::chrono::milliseconds kLongestRest{
    5};  // longest sleep with a transport that tells of arrivals, as it doesn't tell of silence
constexpr std::chrono::seconds kLastWords{5};  // to name missing ranks, or to give up

}  // namespace

Progress::Progress(std::unique_ptr<Transport> transport, const Communicator::Options& options)
    : transport_(std::move(transport)), options_(options), thread_([this] { thread_main(); }) {
  std::unique_lock lock(lock_);
  done_.wait(lock, [this] { return opened_; });
  if (!open_failure_) return;
  lock.unlock();
  thread_.join();
  std::rethrow_exception(open_failure_);
}

Progress::~Progress() {
  {
    std::lock_guard guard(lock_);
    stop_ = true;
    failing_ = std::uncaught_exceptions() > 0;
  }
  work_.notify_one();
  thread_.join();
}

void Progress::enqueue(std::shared_ptr<Operation> operation) {
  {
    std::lock_guard guard(lock_);
    if (!broken_.empty()) {
      operation->finish(broken_);
      return;
    }
    operation->enqueued = Clock::now();
    slots_.enqueue(std::move(operation));
  }
  work_.notify_one();
}

void Progress::wait(Operation& operation) {
  if (operation.finished.load(std::memory_order_acquire)) return;
  const auto finished = [&] { return operation.finished.load(std::memory_order_acquire); };
  std::unique_lock lock(lock_);
  Waiter& waiter = waiters_[operation.lane == Lane::kPrefetch ? kPrefetches : kComputes];
  const Waiter& other = waiters_[operation.lane == Lane::kPrefetch ? kComputes : kPrefetches];
  waiter = {true, operation.lane, Clock::now()};
  if (!other.stands)
    next_telling_ = options_.waits != nullptr ? waiter.since + kLongWait : Clock::time_point::max();
  work_.notify_one();  // the progress thread may be in a long sleep
  const nanoseconds grace = std::min<nanoseconds>(kLastWords, options_.timeout);
  while (!done_.wait_for(lock, grace, finished))
    if (Clock::now() - std::max(looked_, waiter.since) > options_.timeout + grace) fail_hung(operation);
  waiter.stands = false;
  if (!other.stands && std::exchange(told_, false)) options_.waits->clear();
}

/// Fails because the progress thread hangs in a library call. Called with the lock held, which the hanging
/// thread doesn't need.
void Progress::fail_hung(const Operation& operation) const {
  const std::string words =
      fmt::format("{} exchange: no answer from the {} library within {:g} s; ranks or links may be down",
                  traffic_name(operation.purpose), transport_->name(),
                  std::chrono::duration<double>(options_.timeout).count());
  if (options_.on_stuck) options_.on_stuck(words);
  throw Error(words);
}

void Progress::abandon() {
  std::unique_lock lock(lock_);
  abandoned_ = true;
  work_.notify_one();
  done_.wait_for(lock, kLastWords, [this] { return !broken_.empty(); });
}

double Progress::cpu_seconds() const {
  clockid_t clock;
  timespec time{};
  auto& thread = const_cast<std::thread&>(thread_);
  if (pthread_getcpuclockid(thread.native_handle(), &clock) != 0 || clock_gettime(clock, &time) != 0)
    return 0;
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

double Progress::busy_seconds() const {
  std::lock_guard guard(lock_);
  const auto now_running = busy_since_ ? Clock::now() - *busy_since_ : Clock::duration{};
  return std::chrono::duration<double>(busy_ + now_running).count();
}

void Progress::thread_main() {
  prctl(PR_SET_TIMERSLACK, 1000);  // ns; the default of 50 µs would double the latency of every exchange
  is_told_ = transport_->tell_arrivals([this] {
    {
      std::lock_guard guard(lock_);
      arrived_since_ = true;
    }
    work_.notify_one();
  });
  try {
    transport_->open();
    if (transport_->must_be_polled()) is_told_ = false;
  } catch (...) {
    open_failure_ = std::current_exception();
  }
  {
    std::lock_guard guard(lock_);
    opened_ = true;
  }
  done_.notify_all();
  if (open_failure_)
    transport_->tell_arrivals({});
  else
    loop();
}

void Progress::loop() {
  std::unique_lock lock(lock_);
  while (!stop_) {
    try {
      go_round(lock);
    } catch (const std::exception& e) {  // the transport failed, or a device did
      if (!lock.owns_lock()) lock.lock();
      finish_arrived();
      fail_all(e.what());
    }
  }
  const bool orderly = broken_.empty() && !failing_ && !slots_.any_running();
  lock.unlock();
  transport_->tell_arrivals({});
  transport_->close(orderly);
}

void Progress::go_round(std::unique_lock<std::mutex>& lock) {
  if (abandoned_ && broken_.empty()) fail_all("this rank has given up");
  looked_ = Clock::now();
  if (!slots_.take_next()) return await_work(lock);
  if (!busy_since_) busy_since_ = Clock::now();
  const Waiter& waiter = waiters_[kComputes];
  transport_->sums_go_first(!waiter.stands || waiter.lane == Lane::kSmall);
  lock.unlock();
  const bool moved = slots_.advance_all();
  lock.lock();
  finish_arrived();
  if (!moved && !stop_) rest(lock);
}

/// Waits while nothing is under way. Streams that operations wait for are polled, because reaching a mark
/// wakes nobody, and a device that hangs never reaches its mark.
void Progress::await_work(std::unique_lock<std::mutex>& lock) {
  if (slots_.any_queued()) {
    if (fail_late_device(Clock::now())) return;
    work_.wait_for(lock, kMarkPoll);
    return;
  }
  work_.wait(lock, [&] { return stop_ || (abandoned_ && broken_.empty()) || slots_.any_queued(); });
}

void Progress::starts(Running& running) {
  running.since = Clock::now();
}

void Progress::moves(const Running& running) {
  moved_[std::size_t(running.operation->lane)] = Clock::now();
}

void Progress::arrives(const Running& running) {
  const Operation& op = *running.operation;
  const auto now = Clock::now();
  const auto begin = std::max(running.since, std::exchange(arrived_[std::size_t(op.lane)], now));
  if (op.lane == Lane::kBulk) pace_.learn(op.bytes, now - begin);
  if (options_.trace != nullptr) {
    options_.trace->transferred(op.lane, {.begin = Trace::at(begin),
                                          .end = Trace::at(now),
                                          .bytes = op.bytes,
                                          .label = op.label,
                                          .purpose = op.purpose});
  }
}

/// Called with the lock held.
void Progress::finish_arrived() {
  if (slots_.finish_arrived()) done_.notify_all();
  if (busy_since_ && !slots_.any_running()) busy_ += Clock::now() - *std::exchange(busy_since_, std::nullopt);
}

/// Called with the lock held.
void Progress::fail_all(const std::string& why) {
  if (broken_.empty()) broken_ = why;
  transport_->abandon();
  slots_.fail_all(broken_);
  done_.notify_all();
}

/// Fails all operations and returns true if work of this rank's device, for which a lane's next operation
/// waits, takes longer than the time-out. The program is told first, because this rank's threads may hang in
/// the device's library by then. Called with the lock held.
bool Progress::fail_late_device(Clock::time_point now) {
  for (const Lane lane : {Lane::kSmall, Lane::kBulk, Lane::kPrefetch}) {
    const Operation* const next = slots_.next(lane);
    if (next == nullptr || now - std::max(next->enqueued, moved_[std::size_t(lane)]) < options_.timeout)
      continue;
    if (next->is_ready()) continue;
    const std::string words = fmt::format(
        "{} exchange: the device of {} has not finished earlier work within {:g} s; check that it still "
        "answers (nvidia-smi), or raise --timeout",
        traffic_name(next->purpose), names_of(*transport_, {transport_->rank()}),
        std::chrono::duration<double>(options_.timeout).count());
    if (options_.on_stuck) options_.on_stuck(words);
    fail_all(words);
    return true;
  }
  return false;
}

/// Called when nothing has arrived: returns at once to poll again, or sleeps. New work, a thread that begins
/// to wait, or an arrival ends the sleep.
void Progress::rest(std::unique_lock<std::mutex>& lock) {
  const auto now = Clock::now();
  nanoseconds waited = nanoseconds::max();
  slots_.for_each_running(
      [&](const Running& running) { waited = std::min<nanoseconds>(waited, now - running.since); });
  // A waiting prefetch thread doesn't count: other threads compute on its core meanwhile.
  const bool polls = !is_told_ || slots_.any_queued();  // reaching a stream's mark wakes nobody
  const nanoseconds nap = polls ? pace_.nap(waited, waiters_[kComputes].stands) : kLongestRest;
  if (nap == nanoseconds(0) || std::exchange(arrived_since_, false)) return;
  if (fail_late_device(now)) return;
  const bool stands = std::ranges::any_of(waiters_, &Waiter::stands);
  if (stands && now - longest_silence(now) >= options_.timeout) return fail_all(missing_ranks());
  if (stands && now >= next_telling_) tell_wait(now);
  work_.wait_for(lock, nap);
}

// Names the ranks that a rank waits for: in an error when the time-out is over, and on the board before that.

/// What the lanes wait for, as text. Lines that several operations share appear once.
std::string Progress::missing_ranks() {
  std::string text;
  slots_.for_each_running([&](const Running& running) {
    if (running.pending == nullptr || running.pending->outstanding().empty()) return;
    const std::string line = silence_of(running.operation->purpose, options_.timeout,
                                        names_of(*transport_, running.pending->outstanding()));
    if (text.find(line) == std::string::npos) text += (text.empty() ? "" : "; ") + line;
  });
  return text + kSilenceAdvice;
}

/// The time since which nothing has moved in the lane that a thread waits for; of two waiting threads, the
/// earlier time. `now` where no thread waits. Called with the lock held.
Progress::Clock::time_point Progress::longest_silence(Clock::time_point now) const {
  for (const Waiter& waiter : waiters_)
    if (waiter.stands) now = std::min(now, std::max(waiter.since, moved_[std::size_t(waiter.lane)]));
  return now;
}

/// Tells the board about a wait, once a second while a thread waits. A transfer that keeps moving doesn't
/// count as a wait for its peers. Called with the lock held.
void Progress::tell_wait(Clock::time_point now) {
  const auto since = longest_silence(now);
  next_telling_ = now + kLongWait;
  if (now - since < kLongWait) {
    if (std::exchange(told_, false)) options_.waits->clear();
    return;
  }
  std::vector<Rank> peers;
  slots_.for_each_running([&](const Running& running) {
    if (running.pending == nullptr) return;
    for (const Rank peer : running.pending->outstanding()) peers.push_back(peer);
  });
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  const std::string who = names_of(*transport_, peers);
  options_.waits->enter(std::move(peers), since, who);
  told_ = true;
}

std::unique_ptr<ProgressEngine> start_progress(std::unique_ptr<Transport> transport,
                                               const Communicator::Options& options) {
  return std::make_unique<Progress>(std::move(transport), options);
}

}  // namespace atl
