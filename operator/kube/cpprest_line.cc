// One http_client of cpprestsdk, which one request at a time uses.
#include "operator/kube/exchange.h"

#include <cpprest/http_client.h>
#include <openssl/ssl.h>
#include <pplx/threadpool.h>

#include <mutex>

namespace atl::kube {
namespace {

using web::http::client::http_client_config;
using TcpSocket = boost::asio::ip::tcp::socket;
using Time = std::chrono::steady_clock;

// The library would close idle connections by its own clock. This keeps it from doing so, because our clock
// decides.
constexpr std::chrono::hours kNever{24 * 365};
constexpr std::chrono::minutes kLife{5};  // how long a connection may be used with old credentials
constexpr std::size_t kThreads = 4;       // for all lines; our code never blocks them

/// The library writes a body into this stream buffer. Each write lasts until the reader has taken the data,
/// and the library reads nothing more in the meantime. The library uses only putn_nocopy of a stream buffer,
/// so all other functions refuse. (The base's putn_nocopy would call _putn. If a write fails, that one waits
/// in one library thread for another, so a few streams that end at once would stop all threads.)
class Sink final : public concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  Sink(std::shared_ptr<Exchange> exchange, std::shared_ptr<void> until_done)
      : streambuf_state_manager(std::ios_base::out),
        until_done_(std::move(until_done)),
        exchange_(std::move(exchange)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return pos_type(traits::eof()); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return pos_type(traits::eof()); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return pos_type(traits::eof());
  }
  bool acquire(std::uint8_t*&, std::size_t&) override { return false; }
  void release(std::uint8_t*, std::size_t) override {}

  pplx::task<std::size_t> putn_nocopy(const std::uint8_t* bytes, std::size_t count) override {
    const pplx::task_completion_event<std::size_t> done;
    exchange_->offer({reinterpret_cast<const char*>(bytes), count}, [done, count](bool taken) {
      if (taken) {
        done.set(count);
      } else {
        done.set_exception(std::runtime_error("nobody reads on"));
      }
    });
    return pplx::create_task(done);
  }

 protected:
  pplx::task<std::size_t> _putn(const std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  pplx::task<int_type> _putc(std::uint8_t) override { return no_character(); }
  pplx::task<int_type> _bumpc() override { return no_character(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return no_character(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return no_character(); }
  pplx::task<int_type> _ungetc() override { return no_character(); }
  pplx::task<std::size_t> _getn(std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  std::size_t _scopy(std::uint8_t*, std::size_t) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}

 private:
  static pplx::task<int_type> no_character() { return pplx::task_from_result<int_type>(traits::eof()); }

  const std::shared_ptr<void> until_done_;  // released when the library no longer uses its connection
  const std::shared_ptr<Exchange> exchange_;
};

}  // namespace

/// The library's callbacks for a connection. It lives as long as the library needs it.
struct CpprestLine::Hooks {
  explicit Hooks(const Peer& p) : peer(p) {}
  void use_socket(TcpSocket& socket);
  void prepare(boost::asio::ssl::context& context);
  std::shared_ptr<const Credentials> identity() const;

  const Peer peer;
  HandshakeLog log;
  std::shared_ptr<SocketMeter> meter;
  std::weak_ptr<Exchange> exchange;
  bool is_repeatable = false;
  int attempts = 0;
};

struct CpprestLine::Client {
  web::http::client::http_client http;
  const Time::time_point old_at = Time::now() + kLife;
};

/// Called before each attempt to send. There is a second one if a kept connection turns out to be closed.
void CpprestLine::Hooks::use_socket(TcpSocket& socket) {
  if (++attempts > 1 && !is_repeatable)
    throw std::runtime_error("the server closed a connection that was kept");
  using boost::asio::ip::tcp;
  if (!socket.is_open() && peer.family != 0) socket.open(peer.family == AF_INET6 ? tcp::v6() : tcp::v4());
  meter = socket.is_open() ? std::make_shared<SocketMeter>(socket.native_handle()) : nullptr;
  if (socket.is_open()) watch_for_lost_peer(socket.native_handle());
  if (const auto present = exchange.lock()) present->connected(meter);
}

std::shared_ptr<const Credentials> CpprestLine::Hooks::identity() const {
  try {
    return peer.credentials();
  } catch (const std::exception& error) {
    throw TransportError(TransportError::Kind::kTls, error.what());
  }
}

void CpprestLine::Hooks::prepare(boost::asio::ssl::context& context) {
  try {
    prepare_tls(context.native_handle(), *identity(), peer.host, &log);
  } catch (const std::exception& error) {
    log.complain(error.what());
    throw;
  }
}

namespace {

/// Starts the library's threads before anything else does: only a few, instead of its default of forty.
/// OpenSSL is initialized first, because what begins first ends last, and the threads must end before
/// OpenSSL's data about them is gone.
void start_threads() {
  static std::once_flag once;
  std::call_once(once, [] {
    OPENSSL_init_ssl(0, nullptr);
    crossplat::threadpool::initialize_with_threads(kThreads);
  });
}

template <class Hooks>
http_client_config config(const std::shared_ptr<Hooks>& hooks) {
  start_threads();
  http_client_config config;
  config.set_timeout(kNever);
  config.set_max_redirects(0);
  config.set_ssl_context_callback([hooks](boost::asio::ssl::context& context) { hooks->prepare(context); });
  config.set_nativehandle_options([hooks](web::http::client::native_handle handle) {
    using Secure = boost::asio::ssl::stream<TcpSocket&>;
    hooks->use_socket(hooks->peer.is_secure ? static_cast<Secure*>(handle)->next_layer()
                                            : *static_cast<TcpSocket*>(handle));
  });
  return config;
}

web::http::http_request message(const Request& request, const Peer& peer, const Credentials& credentials) {
  web::http::http_request message(request.method);
  try {
    message.set_request_uri(web::uri(request.target));
  } catch (const web::uri_exception&) {
    fail("'{}' is not a path and query as HTTP wants them; encode what stands in it", request.target);
  }
  if (!request.body.empty()) message.set_body(request.body, "application/json");
  message.headers()["User-Agent"] = "atoll-operator";
  // The library's Host header lacks the brackets of an IPv6 address. Over TLS that header stays as it is,
  // because the library checks the certificate against it; API servers accept it.
  if (!peer.is_secure) message.headers()["Host"] = peer.authority;
  if (!credentials.token.empty()) message.headers()["Authorization"] = "Bearer " + credentials.token;
  for (const auto& [name, value] : request.headers) message.headers()[name] = value;
  return message;
}

/// Observes how the library's task ended. Every exception of a task must be observed, or the library ends the
/// process.
template <class Result, class Then>
void hear(const pplx::task<Result>& task, std::shared_ptr<Exchange> exchange, Then then) {
  task.then([exchange = std::move(exchange), then](pplx::task<Result> done) {
    try {
      then(*exchange, done.get());
    } catch (const std::exception& error) {
      exchange->failed(error.what());
    }
  });
}

void begin_answer(const std::shared_ptr<Exchange>& exchange, const web::http::http_response& response) {
  Head head{response.status_code(), {}};
  for (const auto& [name, value] : response.headers()) head.headers.emplace_back(name, value);
  exchange->answered(std::move(head));
  hear(response.content_ready(), exchange, [](Exchange& e, const web::http::http_response&) { e.ended(); });
}

}  // namespace

CpprestLine::CpprestLine(const Peer& peer)
    : hooks_(std::make_shared<Hooks>(peer)), client_(new Client{{peer.reached_at, config(hooks_)}}) {}

CpprestLine::~CpprestLine() = default;

bool CpprestLine::is_usable() const {
  return Time::now() < client_->old_at && !(hooks_->meter && hooks_->meter->is_closed());
}

std::shared_ptr<HandshakeLog> CpprestLine::log() const {
  return {hooks_, &hooks_->log};
}

void CpprestLine::send(const Request& request, const std::shared_ptr<Exchange>& exchange,
                       std::shared_ptr<void> until_done) {
  hooks_->log.reset();
  hooks_->exchange = exchange;
  hooks_->attempts = 0;
  hooks_->is_repeatable = request.method == "GET";
  const pplx::cancellation_token_source stop;
  exchange->on_abort([stop] { stop.cancel(); });
  auto outgoing = message(request, hooks_->peer, *hooks_->identity());
  const auto sink = std::make_shared<Sink>(exchange, std::move(until_done));
  outgoing.set_response_stream(
      concurrency::streams::ostream(concurrency::streams::streambuf<std::uint8_t>(sink)));
  outgoing.set_progress_handler([exchange](web::http::message_direction::direction, utility::size64_t) {
    exchange->sent();  // the first call comes when the headers are out
  });
  hear(client_->http.request(outgoing, stop.get_token()), exchange,
       [exchange](Exchange&, const web::http::http_response& response) { begin_answer(exchange, response); });
}

}  // namespace atl::kube
