#include "operator/kube/transport.h"

#include <strings.h>

#include <algorithm>

namespace atl::kube {
namespace {

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

const std::string& Head::header(std::string_view name) const {
  static const std::string none;
  const auto found =
      std::find_if(headers.begin(), headers.end(), [&](const auto& h) { return same_name(h.first, name); });
  return found == headers.end() ? none : found->second;
}

Response Transport::call(const Request& request) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + request.deadline;
  Request bounded = request;
  bounded.limits.piece = request.limits.body;
  const auto stream = open(bounded);
  Response response{stream->head(), {}};
  char part[16 << 10];
  for (;;) {
    const auto left = std::chrono::duration_cast<Milliseconds>(until - Clock::now());
    const std::size_t size = stream->read(part, sizeof part, std::max(left, Milliseconds(0)));
    if (size == 0) return response;
    if (response.body.size() + size > request.limits.body) {
      throw TransportError(TransportError::Kind::kTooLarge,
                           fmt::format("{} {}: the answer is longer than {} bytes", request.method,
                                       request.target, request.limits.body));
    }
    response.body.append(part, size);
  }
}

}  // namespace atl::kube
