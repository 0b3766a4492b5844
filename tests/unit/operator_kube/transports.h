// The transports that the conformance suite checks against operator/kube/transport.h, and functions that its
// tests share.
#pragma once

#include <gmock/gmock.h>

#include <unistd.h>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "operator/kube/transport.h"
#include "operator_kube/scripted_server.h"

namespace atl::kube {

struct TransportUnderTest {
  const char* name;
  std::unique_ptr<Transport> (*make)(const std::string& server, CredentialSource credentials);
};

/// A line here puts a new implementation under the contract's tests.
inline const TransportUnderTest kTransports[] = {{"Cpprest", cpprest_transport}};

inline CredentialSource always(Credentials credentials) {
  return [kept = std::make_shared<const Credentials>(std::move(credentials))] { return kept; };
}

class TransportTest : public testing::TestWithParam<TransportUnderTest> {
 protected:
  using Kind = TransportError::Kind;

  static std::unique_ptr<Transport> to(const std::string& server, Credentials credentials = {}) {
    return GetParam().make(server, always(std::move(credentials)));
  }
  static std::unique_ptr<Transport> to(const ScriptedServer& server, Credentials credentials = {}) {
    return to(server.address(), std::move(credentials));
  }
};

inline std::string name_of(const testing::TestParamInfo<TransportUnderTest>& info) {
  return info.param.name;
}

inline Request get(const std::string& target, Milliseconds deadline = Milliseconds(5000)) {
  Request request;
  request.target = target;
  request.deadline = deadline;
  return request;
}

/// A header's value in a request as sent; "" where there is none.
inline std::string header_in(const std::string& request, const std::string& name) {
  const auto at = request.find("\r\n" + name + ":");
  if (at == std::string::npos) return {};
  const auto begin = request.find_first_not_of(' ', at + name.size() + 3);
  return request.substr(begin, request.find("\r\n", begin) - begin);
}

/// The kind of TransportError that `act` throws, none where it throws none; `words` gets the message.
template <class Act>
std::optional<TransportError::Kind> error_of(Act act, std::string* words = nullptr) {
  try {
    act();
  } catch (const TransportError& error) {
    if (words) *words = error.what();
    return error.kind();
  }
  return std::nullopt;
}

template <class Act>
double seconds_of(Act act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Reads a stream to its end.
inline std::string rest_of(Stream& stream, Milliseconds idle = Milliseconds(5000)) {
  std::string all;
  char part[5000];
  while (const std::size_t size = stream.read(part, sizeof part, idle)) all.append(part, size);
  return all;
}

/// This process's resident memory; 0 where a sanitizer keeps freed memory.
inline double megabytes() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 0;
#endif
  std::ifstream statm("/proc/self/statm");
  double total = 0, resident = 0;
  statm >> total >> resident;
  return resident * double(sysconf(_SC_PAGESIZE)) / 1e6;
}

}  // namespace atl::kube
