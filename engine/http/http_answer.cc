// What an HTTP request is answered with, as text.
#include <fmt/format.h>

#include <exception>

#include "http/http_endpoint.h"

namespace atl {
namespace {

std::string reply(const char* status, const HttpPage& page, bool with_body) {
  return fmt::format(
             "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n"
             "Connection: close\r\n\r\n",
             status, page.content_type, page.body.size()) +
         (with_body ? page.body : "");
}

}  // namespace

std::string http_answer(const std::string& request, const HttpPages& pages) {
  const auto method_end = request.find(' '), target_end = request.find(' ', method_end + 1);
  const std::string line = request.substr(0, request.find("\r\n"));
  if (method_end == std::string::npos || target_end == std::string::npos || target_end > line.size())
    return reply("400 Bad Request", {"text/plain", "not an HTTP request\n"}, true);
  const std::string method = line.substr(0, method_end);
  const std::string target = line.substr(method_end + 1, target_end - method_end - 1);
  if (method != "GET" && method != "HEAD")
    return reply("405 Method Not Allowed", {"text/plain", "GET or HEAD\n"}, true);
  const bool with_body = method == "GET";
  const auto page = pages.find(target.substr(0, target.find('?')));
  if (page == pages.end()) return reply("404 Not Found", {"text/plain", "no such page\n"}, with_body);
  try {
    return reply("200 OK", page->second(), with_body);
  } catch (const std::exception& error) {
    return reply("500 Internal Server Error", {"text/plain", std::string(error.what()) + "\n"}, with_body);
  }
}

}  // namespace atl
