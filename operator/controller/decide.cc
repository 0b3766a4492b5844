#include "operator/controller/decide.h"

#include <fmt/format.h>
#include <cstddef>

#include "operator/controller/steps.h"

namespace atl::ctl {
namespace {

/// The steps in their order. A completed run counts, whatever else has happened, so complete() comes early.
/// Steps that stop something come before steps that start something.
constexpr Next (*kSteps[])(Reconcile&) = {
    leave_what_is_deleted,
    clean_up,
    complete,
    refuse_unfit,
    choose_pod_size,
    ask_of_queue,
    resume,
    suspend,
    fail_past_deadline,
    restart_lost_attempt,
    restart_failed_worker,
    end_overdue_start,
    withdraw_unbound,
    remove_leftovers,
    tell_refusal,
    make_belongings,
    prepare_data,
    back_off,
    give_way,
    make_gang,
    place_gang,
    launch_ranks,
    watch_ranks,
};

}  // namespace

Decision decide(const Observed& seen, const Settings& settings) {
  Reconcile reconcile(seen, settings);
  for (const auto& step : kSteps)
    if (step(reconcile) == Next::kDone) break;
  tell_queue(reconcile);
  end_needless_request(reconcile);
  tell_what_is_kept(reconcile);
  return reconcile.decision();
}

std::string text_of(const Decision& decision) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  if (decision.status) {
    const Condition* told = telling_condition(decision.status->conditions);
    add(fmt::format("status {}, {}", state_of(decision.status->conditions), told ? told->reason : kBegun));
  }
  constexpr const char* kVerbs[] = {"create", "patch", "delete"};  // by Write::Verb
  for (const auto& stage : decision.stages)
    for (const Write& write : stage)
      add(fmt::format("{} {} {}", kVerbs[std::size_t(write.verb)], name_of(write.kind), write.name));
  return text;
}

}  // namespace atl::ctl
