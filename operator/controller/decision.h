// What is to be done about a job, and in which order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/controller/observed.h"

namespace atl::ctl {

struct Write {
  enum class Verb { kCreate, kPatch, kDelete };
  Verb verb = Verb::kCreate;
  Kind kind = Kind::kPod;
  std::string name;
  std::string body;          // the object, or the JSON patch
  std::string uid;           // kDelete: of this object alone
  std::optional<int> grace;  // kDelete: seconds; none: the object's own
};

struct Event {
  bool is_warning = false;
  std::string reason, message;
};

struct Decision {
  /// Written before anything else is done, and if that fails nothing is: what is done must not be forgotten.
  std::optional<Status> status;
  /// The writes of one stage may go out at once; the next stage begins when all of them have succeeded.
  std::vector<std::vector<Write>> stages;
  std::vector<Event> events;  // once the status is written
  std::optional<Moment> look_again;
  bool wants_prepare_log = false;

  bool is_empty() const { return !status && stages.empty() && !wants_prepare_log; }
};

}  // namespace atl::ctl
