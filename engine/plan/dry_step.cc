#include "plan/dry_step.h"

#include <utility>

namespace atl {
namespace {

class Done final : public Pending {
 public:
  bool done() override { return true; }
  std::vector<Rank> outstanding() const override { return {}; }
  std::int64_t moved() const override { return 0; }
};

class DryTransport final : public Transport {
 public:
  DryTransport(Rank rank, std::vector<std::string> hosts) : rank_(rank), hosts_(std::move(hosts)) {}
  void open() override {}
  void close(bool) override {}
  Rank rank() const override { return rank_; }
  int size() const override { return int(hosts_.size()); }
  const std::string& host(Rank rank) const override { return hosts_[std::size_t(rank)]; }
  Pending& start(Lane, int, std::span<const Message>, std::span<const Message>) override { return done_; }
  void abandon() override {}
  const char* name() const override { return "dry"; }
  bool carries() const override { return false; }

 private:
  Rank rank_;
  std::vector<std::string> hosts_;
  Done done_;
};

}  // namespace

std::unique_ptr<Transport> make_dry_transport(Rank rank, std::vector<std::string> hosts) {
  return std::make_unique<DryTransport>(rank, std::move(hosts));
}

}  // namespace atl
