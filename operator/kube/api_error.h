// What the API server says when it says no: a value, because refusals are part of its protocol.
#pragma once

#include <string>

#include "operator/kube/transport.h"

namespace atl::kube {

struct ApiError {
  int code = 0;                 // 409
  std::string reason, message;  // "AlreadyExists", "pods \"a\" already exists"
  Milliseconds retry_after{0};  // 0: it doesn't say

  bool is_not_found() const { return code == 404; }
  bool is_conflict() const { return code == 409 && reason != "AlreadyExists"; }
  bool already_exists() const { return code == 409 && reason == "AlreadyExists"; }
  bool is_expired() const { return code == 410; }
  /// "409 AlreadyExists: pods \"a\" already exists"
  std::string text() const;
};

/// From an answer that is no success. Bodies that aren't a Status (a proxy's, half a one) become the message.
ApiError api_error(const Response& response);

/// From a Status object that came as an event.
ApiError api_error(const std::string& status);

}  // namespace atl::kube
