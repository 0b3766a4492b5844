// A server on the loopback that behaves as badly as its script says. Each connection is a thread that runs
// the script, over TCP or TLS.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "operator_kube/certificates.h"

namespace atl::kube {

/// The server's end of one connection.
class Peering {
 public:
  Peering(int socket, SSL_CTX* tls) : socket_(socket) {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (tls == nullptr) return;
    ssl_.reset(SSL_new(tls));
    SSL_set_fd(ssl_.get(), socket_);
    is_ready_ = SSL_accept(ssl_.get()) == 1;
  }
  ~Peering() {
    ssl_.reset();
    ::close(socket_);
  }
  Peering(const Peering&) = delete;
  Peering& operator=(const Peering&) = delete;

  bool is_ready() const { return is_ready_; }

  /// The next request, head and body; "" where the client has gone.
  std::string request() {
    while (text_.find("\r\n\r\n") == std::string::npos)
      if (!receive()) return {};
    const std::size_t end = text_.find("\r\n\r\n") + 4;
    const auto stated = text_.substr(0, end).find("Content-Length:");
    const std::size_t body = stated == std::string::npos ? 0 : std::stoul(text_.substr(stated + 15));
    while (text_.size() < end + body)
      if (!receive()) return {};
    const std::string whole = text_.substr(0, end + body);
    text_.erase(0, end + body);
    return whole;
  }

  /// Returns false where the client has gone.
  bool send(std::string_view text) {
    while (!text.empty()) {
      const auto sent = ssl_ ? SSL_write(ssl_.get(), text.data(), int(text.size()))
                             : ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(std::size_t(sent));
    }
    return true;
  }
  bool send_chunk(std::string_view text) {
    char size[20];
    const int length = std::snprintf(size, sizeof size, "%zx\r\n", text.size());
    return send({size, std::size_t(length)}) && send(text) && send("\r\n");
  }
  bool answer(std::string_view body, std::string_view status = "200 OK", std::string_view headers = "") {
    return send("HTTP/1.1 " + std::string(status) + "\r\nContent-Length: " + std::to_string(body.size()) +
                "\r\n" + std::string(headers) + "\r\n" + std::string(body));
  }

  /// Ends the connection with a reset instead of an orderly close.
  void reset() {
    sockaddr none{};
    none.sa_family = AF_UNSPEC;
    connect(socket_, &none, sizeof none);
  }
  /// Waits up to so many seconds until the client has gone; false where it hasn't.
  bool wait_for_close(int seconds = 20) {
    pollfd events{socket_, POLLRDHUP, 0};
    return poll(&events, 1, seconds * 1000) == 1;
  }

 private:
  bool receive() {
    char part[4096];
    const auto size = ssl_ ? SSL_read(ssl_.get(), part, sizeof part) : recv(socket_, part, sizeof part, 0);
    if (size > 0) text_.append(part, std::size_t(size));
    return size > 0;
  }

  struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  const int socket_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  bool is_ready_ = true;
  std::string text_;  // received and not yet returned
};

/// A TLS server's identity, and what it asks of clients.
struct ServerTls {
  Identity identity;
  std::string client_ca;  // the authority of client certificates that it asks for
  int newest = TLS1_3_VERSION;
};

class ScriptedServer {
 public:
  using Script = std::function<void(Peering&)>;

  /// `family`: AF_INET for 127.0.0.1, AF_INET6 for ::1.
  explicit ScriptedServer(Script script, const std::optional<ServerTls>& tls = {}, int family = AF_INET)
      : script_(std::move(script)) {
    signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without asking
    if (tls) use(*tls);
    listener_ = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in v4{};
    v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 v6{};
    v6.sin6_addr = in6addr_loopback;
    family == AF_INET ? listen_on(v4, AF_INET) : listen_on(v6, AF_INET6);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~ScriptedServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      std::lock_guard lock(mutex_);
      for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
    }
    for (auto& thread : threads_) thread.join();
    for (const int socket : sockets_) ::close(socket);
    ::close(listener_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::string address(const std::string& host = "127.0.0.1") const {
    return (tls_ ? "https://" : "http://") + host + ":" + std::to_string(port_);
  }
  int port() const { return port_; }
  int connections() const { return connections_; }

 private:
  template <class Address>
  void listen_on(Address& address, int family) {
    auto* any = reinterpret_cast<sockaddr*>(&address);
    any->sa_family = sa_family_t(family);
    socklen_t size = sizeof address;
    bind(listener_, any, size);
    listen(listener_, 64);
    getsockname(listener_, any, &size);
    port_ = ntohs(reinterpret_cast<sockaddr_in*>(any)->sin_port);  // where sockaddr_in6 has it, too
  }

  void use(const ServerTls& tls) {
    tls_.reset(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_set_security_level(tls_.get(), 0);  // so that it can use what clients must refuse
    SSL_CTX_set_min_proto_version(tls_.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(tls_.get(), tls.newest);
    const auto pem = [](const std::string& text) { return BIO_new_mem_buf(text.data(), int(text.size())); };
    BIO *certificate = pem(tls.identity.certificate), *key = pem(tls.identity.key);
    X509* x509 = PEM_read_bio_X509(certificate, nullptr, nullptr, nullptr);
    EVP_PKEY* secret = PEM_read_bio_PrivateKey(key, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(tls_.get(), x509);
    SSL_CTX_use_PrivateKey(tls_.get(), secret);
    X509_free(x509), EVP_PKEY_free(secret), BIO_free(certificate), BIO_free(key);
    if (tls.client_ca.empty()) return;
    BIO* ca = pem(tls.client_ca);
    X509* authority = PEM_read_bio_X509(ca, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(tls_.get()), authority);
    SSL_CTX_set_verify(tls_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    X509_free(authority), BIO_free(ca);
  }

  void accept_all() {
    for (;;) {
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      ++connections_;
      std::lock_guard lock(mutex_);
      sockets_.push_back(dup(socket));  // our own, to end the connection by, whatever the script has done
      threads_.emplace_back([this, socket, ours = sockets_.back()] {
        Peering peering(socket, tls_.get());
        if (peering.is_ready()) script_(peering);
        shutdown(ours, SHUT_WR);  // what the script has sent arrives first
      });
    }
  }

  struct FreeContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };

  const Script script_;
  std::unique_ptr<SSL_CTX, FreeContext> tls_;
  int listener_ = -1, port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::list<int> sockets_;
  std::list<std::thread> threads_;
  std::thread acceptor_;
};

}  // namespace atl::kube
