// Sets our demands on TLS in OpenSSL's context, and finds out why a handshake failed.
#include "operator/kube/exchange.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <vector>

namespace atl::kube {
namespace {

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    destroy(object);
  }
};
using Bio = std::unique_ptr<BIO, Destroy<BIO_free>>;
using Certificate = std::unique_ptr<X509, Destroy<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Destroy<EVP_PKEY_free>>;

std::vector<Certificate> certificates(const std::string& pem, const char* what) {
  const Bio text(BIO_new_mem_buf(pem.data(), int(pem.size())));
  std::vector<Certificate> all;
  while (X509* next = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)) all.emplace_back(next);
  const bool is_whole = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (all.empty() || !is_whole) fail("{} is not a PEM text of certificates", what);
  return all;
}

void trust(SSL_CTX* context, const std::string& ca) {
  if (ca.empty()) fail("no certificate authority is given, and https is never used without one");
  X509_STORE* store = X509_STORE_new();
  SSL_CTX_set_cert_store(context, store);  // replaces the system's authorities; the context owns it now
  for (const Certificate& authority : certificates(ca, "the certificate authority"))
    X509_STORE_add_cert(store, authority.get());
}

void identify(SSL_CTX* context, const Credentials& credentials) {
  if (credentials.certificate.empty()) return;
  const auto chain = certificates(credentials.certificate, "the client certificate");
  const Bio text(BIO_new_mem_buf(credentials.key.data(), int(credentials.key.size())));
  const Key key(PEM_read_bio_PrivateKey(text.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (!key) fail("the client certificate's key is not a PEM text of a private key");
  SSL_CTX_use_certificate(context, chain[0].get());
  for (std::size_t i = 1; i < chain.size(); ++i) SSL_CTX_add1_chain_cert(context, chain[i].get());
  const bool fits = SSL_CTX_use_PrivateKey(context, key.get()) == 1;
  ERR_clear_error();
  if (!fits) fail("the client certificate's key is another certificate's");
}

void expect_name(SSL_CTX* context, const std::string& server) {
  X509_VERIFY_PARAM* rules = SSL_CTX_get0_param(context);
  if (X509_VERIFY_PARAM_set1_ip_asc(rules, server.c_str()) == 1) return;
  X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  X509_VERIFY_PARAM_set1_host(rules, server.c_str(), server.size());
}

/// The index under which a context keeps its log. The slot of SSL_CTX_set_app_data belongs to Asio.
int log_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

/// OpenSSL calls this during a handshake, in the library's thread.
void observe(const SSL* ssl, int where, int value) {
  auto* log = static_cast<HandshakeLog*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), log_index()));
  if (where & SSL_CB_HANDSHAKE_START) log->start();
  if (!(where & SSL_CB_ALERT) || value >> 8 != SSL3_AL_FATAL) return;
  const long verdict = SSL_get_verify_result(ssl);
  if (verdict != X509_V_OK) {
    log->complain(
        fmt::format("the server's certificate is refused: {}", X509_verify_cert_error_string(verdict)));
  } else {
    log->complain(fmt::format("{} refused: {}", where & SSL_CB_READ ? "the server" : "we",
                              SSL_alert_desc_string_long(value)));
  }
}

}  // namespace

void HandshakeLog::reset() {
  std::lock_guard lock(mutex_);
  started_ = false;
  problem_.clear();
}

void HandshakeLog::complain(const std::string& problem) {
  std::lock_guard lock(mutex_);
  if (problem_.empty()) problem_ = problem;
}

std::string HandshakeLog::problem() const {
  std::lock_guard lock(mutex_);
  return problem_;
}

void prepare_tls(ssl_ctx_st* context, const Credentials& credentials, const std::string& server,
                 HandshakeLog* log) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  trust(context, credentials.ca);
  identify(context, credentials);
  expect_name(context, server);
  SSL_CTX_set_ex_data(context, log_index(), log);
  SSL_CTX_set_info_callback(context, observe);
}

}  // namespace atl::kube
