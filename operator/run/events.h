// Events for `kubectl describe`: said once, counted where they repeat, few per job, and sent in the
// background, so that work never waits for them.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "operator/controller/decide.h"
#include "operator/kube/client.h"
#include "operator/run/options.h"

namespace atl::ctl {

/// Any thread may call any of it.
class Events {
 public:
  /// `client` must outlive it. `identity`: this replica's.
  Events(kube::Client& client, std::string identity) : client_(client), identity_(std::move(identity)) {}

  /// Drops the event where the job has had too many lately: kBurst at once, then one per kOneIn.
  void add(const GnnJob& job, const Event& event, Moment now);
  /// Sends the added events. Events that the API server doesn't accept are lost.
  void send();

  static constexpr int kBurst = 25;
  static constexpr Seconds kOneIn{300}, kRemembered{600};

 private:
  /// An event that was said before: of one job, type, reason and message.
  struct Said {
    std::string path;  // of the Event object
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
  /// Takes one event of the job's allowance. False: none is left.
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
