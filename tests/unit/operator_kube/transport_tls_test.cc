// The contract of every Transport on TLS: whom to trust, and whom not.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "operator_kube/transports.h"

namespace atl::kube {
namespace {

using testing::HasSubstr;

class TransportTls : public TransportTest {
 protected:
  static void serve(Peering& p) {
    while (!p.request().empty()) p.answer("ok");
  }
  /// Expects no answer, and words that name the reason.
  static void expect_refusal(const ScriptedServer& server, const Credentials& credentials,
                             const char* reason) {
    std::string words;
    EXPECT_EQ(error_of([&] { to(server, credentials)->call(get("/")); }, &words), Kind::kTls);
    EXPECT_THAT(words, HasSubstr(reason));
  }

  const Authority authority_{"ours"}, stranger_{"a stranger"};
  const ServerTls good_{authority_.identity("IP:127.0.0.1")};
};
INSTANTIATE_TEST_SUITE_P(All, TransportTls, testing::ValuesIn(kTransports), name_of);

TEST_P(TransportTls, AnAuthorityOfOursIsTrusted) {
  ScriptedServer server(serve, good_);
  EXPECT_EQ(to(server, {.ca = authority_.pem()})->call(get("/")).body, "ok");
  EXPECT_EQ(to(server, {.ca = stranger_.pem() + authority_.pem()})->call(get("/")).body, "ok")
      << "one of two";
}

TEST_P(TransportTls, ConnectionsAreUsedAgain) {
  ScriptedServer server(serve, good_);
  const auto transport = to(server, {.ca = authority_.pem()});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(transport->call(get("/")).body, "ok");
  EXPECT_LE(server.connections(), 4);
}

TEST_P(TransportTls, AServerIsKnownByItsName) {
  ScriptedServer server(serve, ServerTls{authority_.identity("DNS:localhost")});
  EXPECT_EQ(to(server.address("localhost"), {.ca = authority_.pem()})->call(get("/")).body, "ok");
}

TEST_P(TransportTls, AServerIsKnownByItsIpv6Address) {
  ScriptedServer known(serve, ServerTls{authority_.identity("IP:::1")}, AF_INET6);
  EXPECT_EQ(to(known.address("[::1]"), {.ca = authority_.pem()})->call(get("/")).body, "ok");
  ScriptedServer other(serve, good_, AF_INET6);
  std::string words;
  const auto transport = to(other.address("[::1]"), {.ca = authority_.pem()});
  EXPECT_EQ(error_of([&] { transport->call(get("/")); }, &words), Kind::kTls);
  EXPECT_THAT(words, HasSubstr("mismatch"));
}

TEST_P(TransportTls, AnotherAuthorityIsRefused) {
  ScriptedServer server(serve, good_);
  expect_refusal(server, {.ca = stranger_.pem()}, "unable to get local issuer certificate");
}

TEST_P(TransportTls, TheSystemsAuthoritiesAreNotTrusted) {
  const auto system = std::filesystem::temp_directory_path() / ("atoll_ca" + std::to_string(getpid()));
  std::ofstream(system) << authority_.pem();
  setenv("SSL_CERT_FILE", system.c_str(), 1);
  ScriptedServer server(serve, good_);
  expect_refusal(server, {.ca = stranger_.pem()}, "unable to get local issuer certificate");
  unsetenv("SSL_CERT_FILE");
  std::filesystem::remove(system);
}

TEST_P(TransportTls, AnExpiredCertificateIsRefused) {
  ScriptedServer server(serve, ServerTls{authority_.identity("IP:127.0.0.1", -60)});
  expect_refusal(server, {.ca = authority_.pem()}, "certificate has expired");
}

TEST_P(TransportTls, AnotherServersCertificateIsRefused) {
  for (const char* names : {"IP:127.0.0.2", "DNS:localhost", "DNS:127.0.0.1"}) {
    ScriptedServer server(serve, ServerTls{authority_.identity(names)});
    expect_refusal(server, {.ca = authority_.pem()}, "IP address mismatch");
  }
  ScriptedServer server(serve, ServerTls{authority_.identity("DNS:elsewhere")});
  std::string words;
  const auto transport = to(server.address("localhost"), {.ca = authority_.pem()});
  EXPECT_EQ(error_of([&] { transport->call(get("/")); }, &words), Kind::kTls);
  EXPECT_THAT(words, HasSubstr("hostname mismatch"));
}

TEST_P(TransportTls, WithoutAnAuthorityNobodyIsTrusted) {
  ScriptedServer server(serve, good_);
  expect_refusal(server, {}, "no certificate authority is given");
  expect_refusal(server, {.ca = "not a PEM text"}, "not a PEM text");
}

TEST_P(TransportTls, OldTlsIsRefused) {
  ServerTls old = good_;
  old.newest = TLS1_1_VERSION;
  ScriptedServer server(serve, old);
  expect_refusal(server, {.ca = authority_.pem()}, "protocol version");
  ServerTls accepted = good_;
  accepted.newest = TLS1_2_VERSION;
  ScriptedServer second(serve, accepted);
  EXPECT_EQ(to(second, {.ca = authority_.pem()})->call(get("/")).body, "ok");
}

TEST_P(TransportTls, AServerWithoutTlsIsRefused) {
  ScriptedServer server([](Peering& p) {
    p.answer("this is no handshake", "400 Bad Request");
    p.wait_for_close();
  });
  const auto transport = to("https://127.0.0.1:" + std::to_string(server.port()), {.ca = authority_.pem()});
  EXPECT_EQ(error_of([&] { transport->call(get("/")); }), Kind::kTls);
}

TEST_P(TransportTls, AHandshakeThatNeverEndsMeetsTheDeadline) {
  ScriptedServer server([](Peering& p) { p.wait_for_close(); });
  const auto transport = to("https://127.0.0.1:" + std::to_string(server.port()), {.ca = authority_.pem()});
  EXPECT_EQ(error_of([&] { transport->call(get("/", Milliseconds(200))); }), Kind::kTimeout);
}

TEST_P(TransportTls, OurCertificateIsShown) {
  ServerTls asking = good_;
  asking.client_ca = authority_.pem();
  const Identity us = authority_.identity("DNS:us"), other = stranger_.identity("DNS:other");
  for (const int newest : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    asking.newest = newest;
    ScriptedServer server(serve, asking);
    Credentials credentials{authority_.pem(), us.certificate, us.key, {}};
    EXPECT_EQ(to(server, credentials)->call(get("/")).body, "ok");
    expect_refusal(server, {authority_.pem(), other.certificate, other.key, {}}, "the server refused: ");
    expect_refusal(server, {.ca = authority_.pem()}, "the server refused: ");
    expect_refusal(server, {authority_.pem(), us.certificate, other.key, {}}, "another certificate's");
  }
}

TEST_P(TransportTls, NewCredentialsServeTheNextConnection) {
  ScriptedServer server(
      [](Peering& p) {
        p.request();
        p.answer("ok");
      },
      good_);
  std::atomic<bool> is_renewed = false;
  const auto transport = GetParam().make(server.address(), [&] {
    return std::make_shared<const Credentials>(
        Credentials{.ca = is_renewed ? authority_.pem() : stranger_.pem()});
  });
  EXPECT_EQ(error_of([&] { transport->call(get("/")); }), Kind::kTls);
  is_renewed = true;
  EXPECT_EQ(transport->call(get("/")).body, "ok");
}

TEST_P(TransportTls, StreamsAreHeldBackToo) {
  ScriptedServer server(
      [](Peering& p) {
        p.request();
        p.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        for (int i = 0; i < 50; ++i)
          if (!p.send_chunk(std::string(1'000'000, 'x'))) return;
        p.send("0\r\n\r\n");
      },
      good_);
  const double before = megabytes();
  const auto stream = to(server, {.ca = authority_.pem()})->open(get("/"));
  std::this_thread::sleep_for(Milliseconds(200));
  std::size_t read = 0;
  char part[10'000];
  while (const std::size_t size = stream->read(part, sizeof part, Milliseconds(5000))) read += size;
  EXPECT_EQ(read, 50'000'000u);
  EXPECT_LT(megabytes() - before, 12);
}

}  // namespace
}  // namespace atl::kube
