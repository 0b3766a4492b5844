// A transport that forwards everything to another one; a test overrides what it changes.
#pragma once

#include <memory>
#include <utility>

#include "comm/transports.h"

namespace atl {

class ForwardingTransport : public Transport {
 public:
  explicit ForwardingTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}
  void open() override { inner_->open(); }
  void close(bool orderly) override { inner_->close(orderly); }
  void abandon() override { inner_->abandon(); }
  Rank rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  const std::string& host(Rank rank) const override { return inner_->host(rank); }
  const char* name() const override { return inner_->name(); }
  void sums_go_first(bool first) override { inner_->sums_go_first(first); }
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    return inner_->start(lane, slot, sends, receives);
  }

 private:
  std::unique_ptr<Transport> inner_;
};

}  // namespace atl
