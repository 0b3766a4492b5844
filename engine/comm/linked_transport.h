// How ranks set up links between their devices (tensor/device_links.h). They tell each other over the host's
// transport what each can offer, and rank 0 makes a key. Then all join, and each sends a few bytes to the
// next as a proof. Either all ranks have links, or none has.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/transports.h"
#include "tensor/device_links.h"

namespace atl {

struct LinkOptions {
  bool on_device = true;  // false: this rank computes on the host, and no rank gets links
  int rank_here = 0;      // this rank's number on its machine
  std::chrono::milliseconds timeout{300'000};  // of silence
  std::string* why_staged = nullptr;  // open() writes here why there are no links; empty: there are links
  std::function<void(const std::string&)> on_stuck;  // as Communicator::Options::on_stuck
  std::int64_t round_bytes =
      64 << 20;  // bytes of a message per round, so that a long message is seen to move; equal on all ranks
};

/// A transport for ranks on devices. `host` also carries messages between devices without links: between
/// ranks that share a GPU, or without the library. All ranks of the group must use this transport.
std::unique_ptr<Transport> make_linked_transport(std::unique_ptr<Transport> host, const LinkOptions& options);

struct LinkSetup {
  std::unique_ptr<DeviceLinks> links;  // null: rows travel through the host
  std::string why_not;                 // why there are no links; empty: there are
};

/// Collective; called by the thread that calls `host`, before anything else uses it. Throws Error naming the
/// ranks from which nothing has come within the time-out.
LinkSetup set_up_links(Transport& host, const LinkMaker& maker, const LinkOptions& options);

/// Ends the transfers that are under way. False if the library doesn't return; it may then still write to the
/// memory of messages.
bool give_up(std::unique_ptr<DeviceLinks> links);

class LinkedGroup;

/// The state that all groups of a transport share.
struct Linked {
  const Transport& host;
  std::int64_t round_bytes;  // LinkOptions::round_bytes
  std::unique_ptr<DeviceLinks> links;
  std::deque<LinkedGroup*> order;  // groups whose rounds haven't all been launched yet
};

/// The group in one slot, reused for the slot's next group.
class LinkedGroup final : public Pending {
 public:
  LinkedGroup(Linked& linked, int slot) : linked_(linked), slot_(slot) {}

  /// Takes messages; those in the host's memory go over the host's transport.
  void take(std::span<const Message> sends, std::span<const Message> receives);
  /// Takes a sum over all ranks, in place, of values in the devices' memory.
  void take_sum(std::span<Real> values);
  /// Call after take() or take_sum(): starts the messages that the host's transport carries.
  void start_host(Transport& host, Lane lane);

  bool done() override;
  std::vector<Rank> outstanding() const override;
  std::int64_t moved() const override { return host_->moved() + over_; }
  bool is_under_way() const { return begun_ > over_; }

 private:
  enum class Does : std::int64_t { kReceives, kSends, kSums };
  /// Tells another rank which message this rank has come to, or that it has come to the sum.
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
  bool has_come_ = false;                           // all ranks of the group have come to it
  std::int64_t rounds_ = 0, begun_ = 0, over_ = 0;  // rounds of the devices' transfers
  std::vector<DeviceMessage> sends_, receives_, sent_part_, received_part_;
  std::span<Real> sum_;  // empty: the group is one of messages
  std::vector<Message> host_sends_, host_receives_;
  std::vector<Token> told_, heard_;
};

}  // namespace atl
