#include "operator/kube/api_error.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace atl::kube {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestMessage = 1024;

/// The member where the object has it in the type of `otherwise`, which it is otherwise.
template <class T>
T value_or(const json& object, const char* name, T otherwise) {
  if (!object.is_object()) return otherwise;
  const auto found = object.find(name);
  if (found == object.end()) return otherwise;
  const bool is_fit = std::is_arithmetic_v<T> ? found->is_number_integer() : found->is_string();
  return is_fit ? found->get<T>() : otherwise;
}

Milliseconds seconds(const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && value > 0 ? std::chrono::seconds(value) : std::chrono::seconds(0);
}

}  // namespace

std::string ApiError::text() const {
  return fmt::format("{}{}{}: {}", code, reason.empty() ? "" : " ", reason, message);
}

ApiError api_error(const std::string& status) {
  const json object = json::parse(status, nullptr, false);
  ApiError error;
  error.code = value_or(object, "code", 0);
  error.reason = value_or(object, "reason", std::string());
  error.message = value_or(object, "message", status.substr(0, kLongestMessage));
  if (object.is_object() && object.contains("details"))
    error.retry_after = std::chrono::seconds(value_or(object["details"], "retryAfterSeconds", 0));
  return error;
}

ApiError api_error(const Response& response) {
  ApiError error = api_error(response.body);
  error.code = response.head.status;
  if (const auto asked = seconds(response.head.header("Retry-After")); asked.count() > 0)
    error.retry_after = asked;
  return error;
}

}  // namespace atl::kube
