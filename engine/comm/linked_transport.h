// How ranks come to links between their devices (tensor/device_links.h): they tell each other, over the
// host's transport, what each can offer; rank 0 makes a key; all join, and send a few bytes round, which
// shows that something arrives. They have links together, or none has.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/transports.h"
#include "tensor/device_links.h"

namespace atl {

struct LinkSetup {
  std::unique_ptr<DeviceLinks> links;  // null: rows go by way of the host …
  std::string why_not;                 // … because of this
};

/// Collective, by the thread that calls `host`, before anything else goes over it. Throws Error naming the
/// ranks from which nothing has come for the time-out.
LinkSetup set_up_links(Transport& host, const LinkMaker& maker, const LinkOptions& options);

/// Gives up what is under way. False where the library doesn't come back: then memory of messages may still
/// be written.
bool give_up(std::unique_ptr<DeviceLinks> links);

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
