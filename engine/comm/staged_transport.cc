// Ranks on GPUs over a transport that knows only the host's memory. Messages from a device are copied to the
// host's memory first, and arrived messages are copied to the device before they count as received. The
// progress thread does both on a stream of its own, so that the compute thread's kernels go on.
#include "comm/transports.h"

#include <array>
#include <utility>

#include "tensor/backend.h"

namespace atl {
namespace {

bool lies_on_device(const Message& message) {
  return message.bytes > 0 && backend().memory.holds(message.data, std::size_t(message.bytes));
}

/// A group under way, with the host's copies of its messages. Memory is kept for the slot's next group.
class StagedGroup final : public Pending {
 public:
  /// Returns the messages for the host's transport to send. The contents of those on the device have been
  /// copied to the host.
  std::span<const Message> fetch(std::span<const Message> sends, DeviceStream& stream) {
    const bool any = place(sends, sends_, sent_);
    for (std::size_t i = 0; i < sends.size(); ++i)
      if (sends_[i].data != sends[i].data)
        stream.download(sends_[i].data, sends[i].data, std::size_t(sends[i].bytes));
    if (any) stream.synchronise();
    return sends_;
  }
  std::span<const Message> expect(std::span<const Message> receives, DeviceStream& stream) {
    stream_ = &stream;
    has_arrived_ = !place(receives, receives_, received_);
    to_.assign(receives.begin(), receives.end());
    return receives_;
  }
  void follow(Pending& host) { host_ = &host; }

  bool done() override {
    if (!host_->done()) return false;
    if (has_arrived_) return true;
    for (std::size_t i = 0; i < to_.size(); ++i)
      if (receives_[i].data != to_[i].data)
        stream_->upload(to_[i].data, receives_[i].data, std::size_t(to_[i].bytes));
    stream_->synchronise();
    has_arrived_ = true;
    return true;
  }
  std::vector<Rank> outstanding() const override { return host_->outstanding(); }
  std::int64_t moved() const override { return host_->moved(); }

 private:
  /// Writes the same messages to `into`, with a place in `memory` for those on the device. True if there are
  /// any.
  static bool place(std::span<const Message> messages, std::vector<Message>& into,
                    std::vector<std::byte>& memory) {
    std::size_t bytes = 0;
    for (const Message& each : messages) bytes += lies_on_device(each) ? std::size_t(each.bytes) : 0;
    if (memory.size() < bytes) memory.resize(bytes);
    into.assign(messages.begin(), messages.end());
    std::size_t used = 0;
    for (Message& each : into) {
      if (!lies_on_device(each)) continue;
      each.data = memory.data() + used;
      used += std::size_t(each.bytes);
    }
    return bytes > 0;
  }

  Pending* host_ = nullptr;
  DeviceStream* stream_ = nullptr;
  bool has_arrived_ = true;
  std::vector<Message> sends_, receives_, to_;
  std::vector<std::byte> sent_, received_;
};

class StagedTransport final : public Transport {
 public:
  StagedTransport(std::unique_ptr<Transport> host, std::function<std::unique_ptr<DeviceStream>()> make_stream)
      : host_(std::move(host)), make_stream_(std::move(make_stream)) {}

  void open() override {
    stream_ = make_stream_();
    host_->open();
  }
  void close(bool orderly) override {
    host_->close(orderly);
    stream_.reset();
  }
  Rank rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  const std::string& host(Rank rank) const override { return host_->host(rank); }
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    StagedGroup& group = groups_[std::size_t(lane)][std::size_t(slot)];
    const std::span<const Message> sent = group.fetch(sends, *stream_);
    group.follow(host_->start(lane, slot, sent, group.expect(receives, *stream_)));
    return group;
  }
  void sums_go_first(bool first) override { host_->sums_go_first(first); }
  bool tell_arrivals(const std::function<void()>& told) override { return host_->tell_arrivals(told); }
  bool must_be_polled() const override { return host_->must_be_polled(); }
  void abandon() override { host_->abandon(); }
  const char* name() const override { return host_->name(); }
  bool carries() const override { return host_->carries(); }

 private:
  std::unique_ptr<Transport> host_;
  std::function<std::unique_ptr<DeviceStream>()> make_stream_;
  std::unique_ptr<DeviceStream> stream_;
  std::array<std::array<StagedGroup, kSlots>, kLanes> groups_;
};

}  // namespace

std::unique_ptr<Transport> make_staged_transport(std::unique_ptr<Transport> host,
                                                 std::function<std::unique_ptr<DeviceStream>()> make_stream) {
  return std::make_unique<StagedTransport>(std::move(host), std::move(make_stream));
}

}  // namespace atl
