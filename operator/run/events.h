// Events for `kubectl describe`. An event is written once, and counted when it repeats. A job gets few of
// them. They are sent in the background, so that work never waits for them.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "operator/controller/decide.h"
#include "operator/kube/client.h"
#include "operator/run/options.h"

namespace atl::ctl {

/// Thread-safe.
class Events {
 public:
  /// `client` must outlive it. `identity` is this replica's name.
  Events(kube::Client& client, std::string identity) : client_(client), identity_(std::move(identity)) {}

  /// Drops the event if the job has had too many lately. It may have kBurst at once, and then one per kOneIn.
  void add(const GnnJob& job, const Event& event, Moment now);
  /// Sends the added events. Events that the API server doesn't accept are lost.
  void send();

  static constexpr int kBurst = 25;
  static constexpr Seconds kOneIn{300}, kRemembered{600};

 private:
  /// An event that was sent before, for one job, type, reason and message.
  struct Said {
    std::string path;  // path of the Event object
    int count = 0;
    Moment first{}, last{};
  };
  struct Allowance {
    int left = kBurst;
    Moment since{};
  };
  struct Letter {
    bool is_new = true;
    std::string path, body;
  };
  /// Takes one event from the job's allowance; false if none is left.
  bool take_allowance(const std::string& uid, Moment now);
  void forget_old(Moment now);
  Letter first_letter(const GnnJob& job, const Event& event, const Said& said, const std::string& name) const;

  kube::Client& client_;
  const std::string identity_;
  std::mutex mutex_;
  std::map<std::string, Said> said_;
  std::map<std::string, Allowance> allowances_;  // by the job's UID
  std::deque<Letter> letters_;
  unsigned said_so_far_ = 0;
};

}  // namespace atl::ctl
