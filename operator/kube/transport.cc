#include "operator/kube/transport.h"

#include <fmt/core.h>
#include <strings.h>
#include <algorithm>
#include <cctype>

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

Response collect(Stream& stream, std::size_t limit, Milliseconds within) {
  using Time = std::chrono::steady_clock;
  const auto until = Time::now() + within;
  Response response{stream.head(), {}};
  char part[16 << 10];
  for (;;) {
    const auto left = std::chrono::duration_cast<Milliseconds>(until - Time::now());
    if (left.count() <= 0)
      throw TransportError(TransportError::Kind::kTimeout, "an answer that doesn't end in time");
    const std::size_t size = stream.read(part, sizeof part, left);
    if (size == 0) return response;
    if (response.body.size() + size > limit)
      throw TransportError(TransportError::Kind::kTooLarge,
                           fmt::format("an answer of more than {} bytes", limit));
    response.body.append(part, size);
  }
}

Response Transport::call(const Request& request) {
  const auto until = std::chrono::steady_clock::now() + request.deadline;
  Request bounded = request;
  bounded.limits.piece = request.limits.body;
  const auto stream = open(bounded);
  const auto left = until - std::chrono::steady_clock::now();
  return collect(*stream, request.limits.body, std::chrono::duration_cast<Milliseconds>(left));
}

namespace {

std::string encoded(std::string_view text) {
  std::string all;
  for (const unsigned char c : text) {
    const bool is_plain = std::isalnum(c) || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain) {
      all += char(c);
    } else {
      all += fmt::format("%{:02X}", c);
    }
  }
  return all;
}

}  // namespace

std::string Resource::path(std::string_view space, std::string_view name) const {
  std::string path = group.empty() ? "/api/" : "/apis/" + group + "/";
  path += version;
  if (!space.empty()) path += "/namespaces/" + encoded(space);
  path += "/" + plural;
  if (!name.empty()) path += "/" + encoded(name);
  return path;
}

void add_query(std::string& target, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  target += target.find('?') == std::string::npos ? '?' : '&';
  target += encoded(name) + "=" + encoded(value);
}

}  // namespace atl::kube
