#include "comm/communicator.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"

namespace atl {

RankGroup::RankGroup(const Communicator& comm, std::vector<Rank> members)
    : members_(std::move(members)), size_(int(members_.size())), place_(comm.rank()) {
  if (everyone()) {
    size_ = comm.size();
    return;
  }
  const auto mine = std::ranges::find(members_, comm.rank());
  ATOLL_CHECK(mine != members_.end() && std::ranges::is_sorted(members_) && members_.front() >= 0 &&
                  members_.back() < comm.size(),
              "rank {} in a group of {} of {}", comm.rank(), size_, comm.size());
  place_ = Rank(mine - members_.begin());
}

Event::Event(State* owner, std::shared_ptr<Operation> operation)
    : owner_(owner), operation_(std::move(operation)) {}

bool Event::complete() const {
  return !operation_ || operation_->finished.load(std::memory_order_acquire);
}

void Event::wait() {
  if (!operation_) return;
  const auto operation = std::move(operation_);
  owner_->wait(*operation);
}

Communicator::Communicator(std::unique_ptr<Transport> transport, const Options& options)
    : Communicator(start_progress(std::move(transport), options), options.trace) {}
Communicator::Communicator(std::unique_ptr<ProgressEngine> engine, Trace* trace)
    : state_(std::make_unique<Event::State>(std::move(engine), trace)) {}
Communicator::Communicator(std::unique_ptr<Transport> transport)
    : Communicator(std::move(transport), Options{}) {}
Communicator::~Communicator() = default;

Rank Communicator::rank() const {
  return state_->progress->transport().rank();
}
int Communicator::size() const {
  return state_->progress->transport().size();
}
const std::string& Communicator::host(Rank rank) const {
  return state_->progress->transport().host(rank);
}
bool Communicator::same_server(Rank a, Rank b) const {
  return host(a) == host(b);
}
const char* Communicator::transport_name() const {
  return state_->progress->transport().name();
}
bool Communicator::sums_on_devices() const {
  return state_->progress->transport().sums_on_devices();
}
double Communicator::progress_cpu_seconds() const {
  return state_->progress->cpu_seconds();
}

void Communicator::abandon() {
  state_->progress->abandon();
}

Trace* Communicator::trace() const {
  return state_->trace;
}
StreamWatcher* Communicator::stream_watcher() const {
  return state_->progress->stream_watcher();
}
double Communicator::communication_seconds() const {
  return state_->progress->busy_seconds();
}

Ledger Communicator::ledger() const {
  std::lock_guard guard(state_->lock);
  return state_->ledger;
}

namespace {

template <class View>
Message message_of(Rank peer, const View& rows) {
  ATOLL_CHECK(rows.contiguous(), "rows of stride {} with {} columns", rows.stride, rows.cols);
  return {peer, static_cast<std::byte*>(const_cast<void*>(rows.address())), rows.rows * rows.row_bytes()};
}

/// Whether an exchange moves any bytes. An exchange that moves none begins nothing and touches no state, so
/// all threads of a rank that is alone may call it.
template <class Sends, class Receives>
bool moves(const Sends& sends, const Receives& receives) {
  const auto has_bytes = [](const auto& each) {
    if constexpr (requires { each.bytes; })
      return each.bytes > 0;
    else
      return message_of(each.peer, each.rows).bytes > 0;
  };
  return std::ranges::any_of(sends, has_bytes) || std::ranges::any_of(receives, has_bytes);
}

}  // namespace

/// Enters the operation's bytes in the ledger and hands it to the progress thread.
Event Communicator::run(Lane lane, Traffic purpose, std::shared_ptr<Operation> operation) {
  operation->lane = lane, operation->purpose = purpose;
  operation->bytes = 0;
  if (const Trace* trace = state_->trace; trace != nullptr)
    operation->label = lane == Lane::kPrefetch ? trace->prefetch_label() : trace->label();
  {
    std::lock_guard guard(state_->lock);
    for (const Message& m : operation->sends) {
      const Link link = same_server(rank(), m.peer) ? Link::kIntra : Link::kInter;
      state_->ledger.sent(link, purpose, m.peer, m.bytes);
      operation->bytes += m.bytes;
      if (operation->sums) {
        const Index second = operation->all_reduce.second_round_bytes();
        if (second > 0) state_->ledger.sent(link, purpose, m.peer, second);
        operation->bytes += second;
      }
    }
    if (const std::span<Real> summed = operation->device_sum; !summed.empty()) {
      const Rank next = (rank() + 1) % size();
      operation->bytes = ring_bytes(size(), rank(), Index(summed.size()), Index(sizeof(Real)));
      const Link link = same_server(rank(), next) ? Link::kIntra : Link::kInter;
      state_->ledger.sent(link, purpose, next, operation->bytes);
    }
  }
  state_->progress->enqueue(operation);
  return Event(state_.get(), std::move(operation));
}

/// Removes the messages without bytes, then runs the operation.
Event Communicator::run_messages(Lane lane, Traffic purpose, std::shared_ptr<Operation> operation) {
  for (auto* messages : {&operation->sends, &operation->receives}) {
    std::erase_if(*messages, [](const Message& m) { return m.bytes == 0; });
    for (const Message& m : *messages)
      ATOLL_CHECK(m.peer >= 0 && m.peer < size() && m.peer != rank(), "peer {} of rank {} of {}", m.peer,
                  rank(), size());
  }
  return run(lane, purpose, std::move(operation));
}

Event Communicator::exchange(Lane lane, Traffic purpose, std::span<const RowsTo> sends,
                             std::span<const RowsFrom> receives, DeviceStream* stream) {
  if (!moves(sends, receives)) return {};
  auto operation = state_->fresh_operation(lane, stream);
  for (const RowsTo& to : sends) operation->sends.push_back(message_of(to.peer, to.rows));
  for (const RowsFrom& from : receives) operation->receives.push_back(message_of(from.peer, from.rows));
  return run_messages(lane, purpose, std::move(operation));
}

Event Communicator::exchange(Lane lane, Traffic purpose, std::span<const Message> sends,
                             std::span<const Message> receives, DeviceStream* stream) {
  if (!moves(sends, receives)) return {};
  auto operation = state_->fresh_operation(lane, stream);
  operation->sends.assign(sends.begin(), sends.end());
  operation->receives.assign(receives.begin(), receives.end());
  return run_messages(lane, purpose, std::move(operation));
}

namespace {

/// Adds sixteen values at a time, which the compiler turns into vector code at -O2.
template <class T>
void add_terms(std::byte* sum, const std::byte* term, Index count) {
  T* __restrict s = reinterpret_cast<T*>(sum);
  const T* __restrict t = reinterpret_cast<const T*>(term);
  Index i = 0;
  for (; i + 16 <= count; i += 16)
    for (Index k = 0; k < 16; ++k) s[i + k] += t[i + k];
  for (; i < count; ++i) s[i] += t[i];
}

}  // namespace

template <class T>
Event Communicator::begin_sum(Traffic purpose, const RankGroup& group, std::span<T> values,
                              std::span<std::byte> terms, DeviceStream* stream) {
  if (group.size() == 1 || values.empty()) return {};
  const SumShape shape = sum_shape(group, Index(values.size()), Index(sizeof(T)));
  ATOLL_CHECK(Index(terms.size()) >= all_reduce_memory(shape.ranks, shape.place, shape.count, shape.width),
              "{} bytes for the terms of {} values", terms.size(), values.size());
  auto operation = state_->fresh_operation(Lane::kSmall, stream);
  operation->sums = true;
  operation->of_everyone = group.everyone();
  const AllReduce::Add add = state_->progress->transport().carries() ? add_terms<T> : nullptr;
  operation->all_reduce.begin(shape, reinterpret_cast<std::byte*>(values.data()), add, terms.data(),
                              operation->sends, operation->receives);
  return run(Lane::kSmall, purpose, std::move(operation));
}

template <class T>
void Communicator::sum(Traffic purpose, const RankGroup& group, std::span<T> values) {
  if (group.size() == 1 || values.empty()) return;
  const auto room =
      std::size_t(all_reduce_memory(group.size(), group.place(), Index(values.size()), Index(sizeof(T))));
  std::vector<std::byte>& terms = state_->terms;
  if (terms.size() < room) terms.resize(room);
  begin_sum(purpose, group, values, std::span(terms), nullptr).wait();
}

Event Communicator::begin_all_reduce(Traffic purpose, const RankGroup& group, std::span<float> values,
                                     std::span<std::byte> terms, DeviceStream* stream) {
  return begin_sum(purpose, group, values, terms, stream);
}
Event Communicator::begin_all_reduce(Traffic purpose, const RankGroup& group, std::span<double> values,
                                     std::span<std::byte> terms, DeviceStream* stream) {
  return begin_sum(purpose, group, values, terms, stream);
}

Event Communicator::begin_device_sum(Traffic purpose, std::span<Real> values, DeviceStream* stream) {
  if (size() == 1 || values.empty()) return {};
  ATOLL_CHECK(sums_on_devices(), "no links between the devices of {} ranks", size());
  auto operation = state_->fresh_operation(Lane::kBulk, stream);
  operation->device_sum = values;
  return run(Lane::kBulk, purpose, std::move(operation));
}

void Communicator::all_reduce(Traffic purpose, std::span<float> values) {
  sum(purpose, RankGroup(*this, {}), values);
}
void Communicator::all_reduce(Traffic purpose, std::span<double> values) {
  sum(purpose, RankGroup(*this, {}), values);
}
void Communicator::all_reduce(Traffic purpose, std::span<std::int64_t> values) {
  sum(purpose, RankGroup(*this, {}), values);
}
void Communicator::all_reduce(Traffic purpose, const RankGroup& group, std::span<double> values) {
  sum(purpose, group, values);
}

std::shared_ptr<Operation> Event::State::fresh_operation(Lane lane, DeviceStream* stream) {
  const std::shared_ptr<Operation> operation = free_operation(lane);
  operation->stream = stream;
  operation->after = stream == nullptr ? 0 : stream->mark();
  return operation;
}

std::shared_ptr<Operation> Event::State::free_operation(Lane lane) {
  auto& pool = pools[lane == Lane::kPrefetch ? 1 : 0];
  for (auto& operation : pool)
    if (operation.use_count() == 1 && operation->finished.load(std::memory_order_acquire)) {
      operation->sends.clear(), operation->receives.clear();
      operation->finished.store(false, std::memory_order_relaxed);
      operation->failure.clear();
      operation->sums = false;
      operation->device_sum = {};
      return operation;
    }
  return pool.emplace_back(std::make_shared<Operation>());
}

void Event::State::wait(Operation& operation) {
  const auto begin = std::chrono::steady_clock::now();
  const bool computes = operation.lane != Lane::kPrefetch;  // whether this is the compute thread
  const bool is_over = operation.finished.load(std::memory_order_acquire);
  Trace* const told = is_over || !computes ? nullptr : trace;
  if (told != nullptr) told->begin_wait();
  if (!is_over && operation.stream != nullptr) operation.stream->wait(operation.after);
  progress->wait(operation);
  if (told != nullptr) told->end_wait(operation.purpose);
  if (computes) {
    std::lock_guard guard(lock);
    const auto waited_for = std::chrono::steady_clock::now() - begin;
    ledger.add_exposed(operation.purpose, std::chrono::duration<double>(waited_for).count());
  }
  if (!operation.failure.empty()) throw Error(operation.failure);
}

}  // namespace atl
