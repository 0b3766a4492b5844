#include "simulate/lone_engine.h"

#include <cstring>

#include "plan/dry_transport.h"

namespace atl {
namespace {

class LoneWatcher final : public StreamWatcher {
 public:
  explicit LoneWatcher(RankNotes& notes) : notes_(notes) {}
  void works_on(int unit) override { notes_.work_on(unit); }

 private:
  RankNotes& notes_;
};

class LoneEngine final : public ProgressEngine {
 public:
  LoneEngine(Rank rank, const std::vector<std::string>& hosts, RankNotes& notes, bool fills)
      : transport_(make_dry_transport(rank, hosts)), notes_(notes), watcher_(notes), fills_(fills) {}

  Transport& transport() override { return *transport_; }
  StreamWatcher* stream_watcher() override { return &watcher_; }
  void enqueue(std::shared_ptr<Operation> operation) override {
    notes_.start(*operation);
    fill(*operation);
    operation->finish();
    notes_.go_on();
  }
  void wait(Operation& operation) override {
    notes_.wait(operation);
    notes_.go_on();
  }
  void abandon() override {}
  double cpu_seconds() const override { return 0; }
  double busy_seconds() const override { return 0; }

 private:
  /// With numbers that compute as fast as any, until costs are noted: later it would warm the cache for what is measured.
  void fill(const Operation& operation) {
    if (!fills_ || notes_.epoch() > 1) return;
    for (const Message& m : operation.receives) std::memset(m.data, 0, std::size_t(m.bytes));
  }

  std::unique_ptr<Transport> transport_;
  RankNotes& notes_;
  LoneWatcher watcher_;
  bool fills_;
};

}  // namespace

std::unique_ptr<ProgressEngine> make_lone_engine(Rank rank, const std::vector<std::string>& hosts,
                                                 RankNotes& notes, bool fills) {
  return std::make_unique<LoneEngine>(rank, hosts, notes, fills);
}

}  // namespace atl
