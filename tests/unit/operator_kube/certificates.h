// Certificates made during the test: an authority, and identities that it signs.
#pragma once

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace atl::kube {

struct Identity {
  std::string certificate, key;  // PEM
};

class Authority {
 public:
  explicit Authority(const std::string& name)
      : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), certificate_(X509_new(), X509_free) {
    begin(certificate_.get(), key_.get(), name, 3600);
    extend(certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(certificate_.get(), key_.get(), EVP_sha256());
  }

  std::string pem() const { return pem_of(certificate_.get()); }

  /// `names` in OpenSSL's form ("IP:127.0.0.1,DNS:localhost"); the certificate expires `seconds` from now.
  Identity identity(const std::string& names, long seconds = 3600) const {
    const Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const Certificate certificate(X509_new(), X509_free);
    begin(certificate.get(), key.get(), "someone", seconds);
    extend(certificate.get(), NID_subject_alt_name, names);
    X509_sign(certificate.get(), key_.get(), EVP_sha256());
    const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PrivateKey(text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return {pem_of(certificate.get()), text_of(text.get())};
  }

 private:
  using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
  using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

  static std::string text_of(BIO* bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio, &data);
    return {data, std::size_t(size)};
  }

  static std::string pem_of(X509* certificate) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> text(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_X509(text.get(), certificate);
    return text_of(text.get());
  }

  void begin(X509* certificate, EVP_PKEY* key, const std::string& name, long seconds) const {
    static long serial = 0;
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -7200);
    X509_gmtime_adj(X509_getm_notAfter(certificate), seconds);
    X509_set_pubkey(certificate, key);
    const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, text, -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate_.get()));
  }

  void extend(X509* certificate, int what, const std::string& value) const {
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate_.get(), certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }

  Key key_;
  Certificate certificate_;
};

}  // namespace atl::kube
