// OpenSSL makes the keys. The file format is OpenSSH's PROTOCOL.key: lengths are big-endian, and everything
// is a string.
#include "operator/objects/objects.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cstdint>
#include <memory>

#include "base/error.h"

namespace atl::ctl {
namespace {

constexpr const char* kType = "ssh-ed25519";
constexpr std::size_t kKeyBytes = 32, kBlock = 8, kLine = 70;

using Key = std::array<unsigned char, kKeyBytes>;

struct RawPair {
  Key seed, open;
};

struct Free {
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

void check(bool good) {
  if (!good)
    fail("OpenSSL can't make an ed25519 key (is it built without, or is there no source of randomness?)");
}

RawPair make_raw_pair() {
  const std::unique_ptr<EVP_PKEY_CTX, Free> context(EVP_PKEY_CTX_new_id(EVP_PKEY_ED25519, nullptr));
  EVP_PKEY* made = nullptr;
  check(context && EVP_PKEY_keygen_init(context.get()) == 1 && EVP_PKEY_keygen(context.get(), &made) == 1);
  const std::unique_ptr<EVP_PKEY, Free> key(made);
  RawPair pair;
  std::size_t seed_bytes = kKeyBytes, open_bytes = kKeyBytes;
  check(EVP_PKEY_get_raw_private_key(made, pair.seed.data(), &seed_bytes) == 1 &&
        EVP_PKEY_get_raw_public_key(made, pair.open.data(), &open_bytes) == 1);
  return pair;
}

std::string bytes_of(const Key& key) {
  return {key.begin(), key.end()};
}

std::string number(std::uint32_t value) {
  return {char(value >> 24), char(value >> 16), char(value >> 8), char(value)};
}

std::string counted(const std::string& bytes) {
  return number(std::uint32_t(bytes.size())) + bytes;
}

std::string base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()), int(bytes.size()));
  text.resize(std::size_t(length));
  return text;
}

std::string open_blob(const RawPair& pair) {
  return counted(kType) + counted(bytes_of(pair.open));
}

/// The section that a passphrase would encrypt. It contains the same random number twice, so that readers
/// notice a wrong passphrase.
std::string secret_section(const RawPair& pair) {
  std::array<unsigned char, 4> random;
  check(RAND_bytes(random.data(), int(random.size())) == 1);
  const std::string twice(random.begin(), random.end());
  std::string section = twice + twice + open_blob(pair) + counted(bytes_of(pair.seed) + bytes_of(pair.open)) +
                        counted("");  // the comment
  for (char pad = 1; section.size() % kBlock != 0; ++pad) section += pad;
  return section;
}

std::string secret_file(const RawPair& pair) {
  const std::string cipher = counted("none"), derivation = counted("none") + counted("");
  const std::string text = base64(std::string("openssh-key-v1") + '\0' + cipher + derivation + number(1) +
                                  counted(open_blob(pair)) + counted(secret_section(pair)));
  std::string file = "-----BEGIN OPENSSH PRIVATE KEY-----\n";
  for (std::size_t at = 0; at < text.size(); at += kLine) file += text.substr(at, kLine) + "\n";
  return file + "-----END OPENSSH PRIVATE KEY-----\n";
}

std::string make_id() {
  std::array<unsigned char, 8> random;
  check(RAND_bytes(random.data(), int(random.size())) == 1);
  std::string id;
  for (const unsigned char byte : random) id += fmt::format("{:02x}", byte);
  return id;
}

KeyPair make_pair() {
  const RawPair pair = make_raw_pair();
  return {secret_file(pair), std::string(kType) + " " + base64(open_blob(pair))};
}

}  // namespace

LoginKeys make_login_keys() {
  return {make_pair(), make_pair(), make_id()};
}

}  // namespace atl::ctl
