// Decides which news of a job may wait for the next news. Each write sends the whole status to the API
// server's disk and to all watchers.
#include <algorithm>
#include <cctype>

#include "operator/api/status.h"

namespace atl::ctl {
namespace {

constexpr Seconds kProgressStays{30}, kWordsStay{600}, kStartStays{10};

/// The text without its stand-alone numbers. Numbers in the names of nodes and jobs stay.
std::string without_numbers(const std::string& text) {
  std::string kept;
  bool is_in_name = false;
  for (const char c : text) {
    const bool is_of_number = (c >= '0' && c <= '9') || c == '.';
    if (!is_of_number || is_in_name) kept += c;
    const bool begins_name = std::isalpha(static_cast<unsigned char>(c)) || c == '-' || c == '_';
    is_in_name = begins_name || (is_in_name && (is_of_number || c == '/'));
  }
  return kept;
}

/// Whether both conditions say that there is no room, in words that differ only in numbers.
bool are_alike(const Condition& a, const Condition& b) {
  return a.reason == kNoRoom && b.reason == kNoRoom && a.holds == b.holds &&
         without_numbers(a.message) == without_numbers(b.message);
}

/// Whether the condition says only that the pods of a first plan exist, or start.
bool is_first_step(const Condition& condition, const Status& before) {
  if (!holds(before.conditions, kPlaced) || find_condition(before.conditions, condition.type)) return false;
  return condition.type == kCreated ? condition.holds
                                    : condition.type == kRunning && condition.reason == kStarting;
}

}  // namespace

std::optional<Seconds> may_stay(const Status& before, const Status& now) {
  const std::string told = write_status(before);
  if (write_status(now) == told) return {};
  Status alike = now;
  Seconds longest{0};
  if (before.progress.epoch && now.progress != before.progress) {
    alike.progress = before.progress;
    longest = kProgressStays;
  }
  for (Condition& condition : alike.conditions) {
    const Condition* said = find_condition(before.conditions, condition.type);
    if (!said || said->message == condition.message || !are_alike(*said, condition)) continue;
    condition.message = said->message;
    longest = std::max(longest, kWordsStay);
  }
  const auto is_first = [&](const Condition& one) { return is_first_step(one, before); };
  if (std::erase_if(alike.conditions, is_first) > 0) longest = kStartStays;  // the shortest of the times
  return longest > Seconds(0) && write_status(alike) == told ? longest : Seconds(0);
}

}  // namespace atl::ctl
