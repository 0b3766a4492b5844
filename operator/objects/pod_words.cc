#include "operator/objects/pod_words.h"

#include <fmt/format.h>
#include <algorithm>

#include "operator/api/messages.h"
#include "operator/objects/names.h"

namespace atl::ctl {

std::string reason_of_end(const PodView& pod) {
  const ContainerView* engine = pod.container(kEngine);
  if (!engine || !engine->ended) {
    if (pod.is_terminating()) return "Deleted";
    return pod.reason.empty() ? "Exit" : "Rejected";  // kubelet rejected it: OutOfcpu, NodeAffinity, …
  }
  const auto told = read_rank_end(engine->message);
  if (engine->reason == "OOMKilled" || (told && told->reason == "OOMKilled")) return "OOMKilled";
  if (told && told->reason == "DaemonEnded") return told->reason;
  if (pod.is_terminating() || told) return "Deleted";  // it was told to end
  return engine->signal > 0 || engine->exit_code > 128 ? "Signal" : "Exit";
}

std::string why_it_ended(const PodView& pod, const std::string& log) {
  const std::string line = last_line(log);
  const ContainerView* engine = pod.container(kEngine);
  if (engine && engine->reason == "OOMKilled")
    return "it was killed for memory (give it more by resources.memory)" +
           (line.empty() ? "" : "; its log ends with: " + line);
  if (!line.empty()) return line;
  const std::string& reason = engine && engine->ended ? engine->reason : pod.reason;
  const std::string& message = engine && engine->ended ? engine->message : pod.message;
  return message.empty() ? reason : reason + ": " + message;
}

std::string why_not_started(const PodView& pod) {
  if (!pod.is_bound())
    return pod.meta.name + (pod.unschedulable.empty() ? ": not bound to a node" : ": " + pod.unschedulable);
  for (const ContainerView& container : pod.containers)
    if (!container.waiting.empty())
      return fmt::format("{} on {}: {}{}{}", pod.meta.name, pod.node, container.waiting,
                         container.waiting_message.empty() ? "" : ": ", container.waiting_message);
  return fmt::format("{} on {}: not ready", pod.meta.name, pod.node);
}

std::string in_kept_words(const Condition* before, const std::string& message) {
  const auto head = [](const std::string& text) {
    return text.substr(0, std::min(text.find("ErrImagePull"), text.find("ImagePullBackOff")));
  };
  const bool is_of_a_pull = head(message) != message;
  return is_of_a_pull && before && head(before->message) == head(message) && before->message != head(message)
             ? before->message
             : message;
}

std::string told_findings(const PodView& prepare) {
  const ContainerView* engine = prepare.phase == "Succeeded" ? prepare.container(kEngine) : nullptr;
  const bool tells_all =
      engine && engine->message.size() <= kLongestFindings && read_prepared(engine->message).has_value();
  return tells_all ? engine->message : "";
}

std::optional<Moment> released_at(const PodView& pod) {
  return parse_moment(pod.meta.annotation(kReleasedAnnotation));
}

std::optional<Moment> made_at(const Meta& meta) {
  return parse_moment(meta.annotation(kMadeAnnotation));
}

}  // namespace atl::ctl
