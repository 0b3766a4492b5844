#include "base/sha256.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"

namespace atl {

void Sha256::Free::operator()(evp_md_ctx_st* state) const {
  EVP_MD_CTX_free(state);
}

Sha256::Sha256() : state_(EVP_MD_CTX_new()) {
  const bool ready = state_ && EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) == 1;
  ATOLL_CHECK(ready, "libcrypto offers no SHA-256");
}

void Sha256::update(const void* data, std::size_t bytes) {
  ATOLL_CHECK(EVP_DigestUpdate(state_.get(), data, bytes) == 1, "SHA-256 of {} bytes", bytes);
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  ATOLL_CHECK(EVP_DigestFinal_ex(state_.get(), digest, &size) == 1, "SHA-256 ended twice");
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex();
}

std::string sha256_of_file(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    fail("{}: cannot be read for its checksum: {}; check the path", path.string(), std::strerror(errno));
  Sha256 hash;
  std::vector<char> piece(1 << 20);
  ssize_t got = 0;
  while ((got = ::read(file, piece.data(), piece.size())) > 0) hash.update(piece.data(), std::size_t(got));
  const int error = errno;
  ::close(file);
  if (got < 0)
    fail("{}: cannot be read for its checksum: {}; check the disk", path.string(), std::strerror(error));
  return hash.hex();
}

}  // namespace atl
