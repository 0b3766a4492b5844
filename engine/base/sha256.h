// SHA-256 (FIPS 180-4), streamed: the identity of files, data sets and checkpoints.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;  // OpenSSL's digest state; its headers stay in sha256.cc

namespace atl {

/// Takes bytes in any number of pieces. Movable, not thread-safe.
class Sha256 {
 public:
  Sha256();
  void update(const void* data, std::size_t bytes);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// 64 lower-case hex digits of everything so far. Ends the stream: call once, last.
  std::string hex();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* state) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> state_;
};

std::string sha256_hex(std::string_view text);

/// Reads the file in pieces of constant memory. Throws Error naming the path if it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace atl
