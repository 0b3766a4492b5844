// One group of what goes over links between devices (tensor/device_links.h): messages, or a sum over all ranks. Its ranks first tell each
// other, over the host's transport, that they have come to it (comm/linked_transport.h).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "comm/transport.h"
#include "tensor/device_links.h"

namespace atl {

class LinkedGroup;

/// What the groups share.
struct Linked {
  const Transport& host;
  std::int64_t round_bytes;  // as LinkOptions'
  std::unique_ptr<DeviceLinks> links;
  std::deque<LinkedGroup*> order;  // groups that have yet to be launched to their end
};

/// For a slot; used again and again.
class LinkedGroup final : public Pending {
 public:
  LinkedGroup(Linked& linked, int slot) : linked_(linked), slot_(slot) {}

  /// Messages; those of the host's memory go over its transport.
  void take(std::span<const Message> sends, std::span<const Message> receives);
  /// A sum over all ranks, in place, of values in the devices' memory.
  void take_sum(std::span<Real> values);
  /// Then: what the host's transport is to send and receive.
  void start_host(Transport& host, Lane lane);

  bool done() override;
  std::vector<Rank> outstanding() const override;
  std::int64_t moved() const override { return host_->moved() + over_; }
  bool is_under_way() const { return begun_ > over_; }

 private:
  enum class Does : std::int64_t { kReceives, kSends, kSums };
  /// What a rank tells another one of a message, or of the sum, when it has come to it.
  struct Token {
    std::int64_t bytes = 0;
    Does does = Does::kReceives;
  };
  static const char* name_of(Does does);
  static Message of(Rank peer, Token& token);

  void forget(std::size_t tokens);
  void check_tokens() const;
  template <class Each>
  void for_others(Each each) const;
  bool rounds_done();
  void begin_round();
  std::span<const DeviceMessage> part(const std::vector<DeviceMessage>& whole,
                                      std::vector<DeviceMessage>& into) const;
  Index values_of_round() const;

  Linked& linked_;
  int slot_;
  Pending* host_ = nullptr;
  bool has_come_ = false;                           // all its ranks have
  std::int64_t rounds_ = 0, begun_ = 0, over_ = 0;  // of what the devices do
  std::vector<DeviceMessage> sends_, receives_, sent_part_, received_part_;
  std::span<Real> sum_;  // empty: it is one of messages
  std::vector<Message> host_sends_, host_receives_;
  std::vector<Token> told_, heard_;
};

}  // namespace atl
