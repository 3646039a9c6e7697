#include "server/rpc/view/view_transport.h"

#include <pthread.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc/view/view_client.h"

namespace eipc::rpc {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using beast::error_code;

constexpr std::chrono::milliseconds kTick(100);
constexpr std::chrono::seconds kIdle(60);
constexpr std::chrono::seconds kCloseTimeout(2);
constexpr size_t kMostReason = 120;  // of a close frame

class Connection;

// What the connections share; of the transport's thread, but for `stopping`. Other threads hold it weakly, and connections not at
// all: these end with it.
struct Core : std::enable_shared_from_this<Core> {
  explicit Core(const ViewTransport::Options& o) : options(o), crowd(o.crowd), context(1), acceptor(context), retry(context) {}

  const ViewTransport::Options options;
  ViewCrowd crowd;  // outlives the context, which holds the connections
  asio::io_context context;
  tcp::acceptor acceptor;
  asio::steady_timer retry;  // of a failed accept
  std::unique_ptr<ViewSite> site;
  std::atomic<bool> stopping = false;
  std::set<std::shared_ptr<Connection>> answering;  // those that wait for the site's answer: they wait for nothing else
};

std::string HeaderOf(const http::fields& headers, beast::string_view name) {
  const auto range = headers.equal_range(name);
  if (range.first == range.second || std::next(range.first) != range.second) return "";
  return std::string(range.first->value());
}

ViewQuery QueryOf(const http::request<http::string_body>& request, const tcp::socket& socket) {
  ViewQuery query;
  query.post = request.method() == http::verb::post;
  const std::string target(request.target());
  const size_t mark = target.find('?');
  query.path = target.substr(0, mark);
  if (mark != std::string::npos) query.query = target.substr(mark + 1);
  query.host = HeaderOf(request, "Host");
  query.origin = HeaderOf(request, "Origin");
  query.cookies = HeaderOf(request, "Cookie");
  query.authorization = HeaderOf(request, "Authorization");
  query.body = request.body();
  error_code error;
  const tcp::endpoint peer = socket.remote_endpoint(error);
  if (!error) query.peer = absl::StrCat("viewer:", peer.address().to_string(), ":", peer.port());
  return query;
}

http::response<http::string_body> ResponseOf(ViewReply reply, unsigned version, bool keep_alive) {
  http::response<http::string_body> response(static_cast<http::status>(reply.status), version);
  if (!reply.type.empty()) response.set(http::field::content_type, reply.type);
  for (const auto& [name, value] : reply.headers) response.set(name, value);
  response.keep_alive(keep_alive);
  response.body() = std::move(reply.body);
  response.prepare_payload();
  return response;
}

// A page that is connected: one message is written at a time, the others wait in the client.
class Socket : public std::enable_shared_from_this<Socket> {
 public:
  Socket(Core* core, beast::tcp_stream&& stream, std::shared_ptr<ViewCrowd::Seat> seat)
      : core_(core),
        seat_(std::move(seat)),
        socket_(std::move(stream)),
        timer_(core->context),
        buffer_(core->options.max_frame_bytes) {}

  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (client_ != nullptr) client_->Close();
  }

  beast::tcp_stream& stream() { return beast::get_lowest_layer(socket_); }
  // False: it may not; `refusal` is the answer.
  bool Open(const ViewQuery& query, ViewReply* refusal) {
    const std::weak_ptr<Socket> weak = weak_from_this();
    client_ = core_->site->Connect(
        query,
        [of = core_->weak_from_this(), weak] {
          const std::shared_ptr<Core> core = of.lock();
          if (core == nullptr || core->stopping) return;
          asio::post(core->context, [weak] {
            if (const std::shared_ptr<Socket> self = weak.lock()) self->Write();
          });
        },
        refusal);
    if (client_ != nullptr) seat_->SetKnown(true);
    return client_ != nullptr;
  }

  void Accept(const http::request<http::string_body>& request) {
    websocket::stream_base::timeout timeout{};
    timeout.handshake_timeout = core_->options.request_timeout;
    timeout.idle_timeout = kIdle;
    timeout.keep_alive_pings = true;
    beast::get_lowest_layer(socket_).expires_never();
    socket_.set_option(timeout);
    socket_.read_message_max(core_->options.max_frame_bytes);
    socket_.binary(true);
    socket_.auto_fragment(false);
    socket_.async_accept(request, [self = shared_from_this()](error_code error) {
      if (error) return self->End();
      self->accepted_ = true;
      self->Read();
      self->Write();
      self->Watch();
    });
  }

 private:
  void Read() {
    socket_.async_read(buffer_, [self = shared_from_this()](error_code error, size_t) {
      if (error || self->ended_) return self->End();
      if (!self->socket_.got_binary()) return self->Refuse(websocket::close_code::unknown_data, "frames must be binary");
      const std::string message = beast::buffers_to_string(self->buffer_.data());
      self->buffer_.consume(self->buffer_.size());
      const absl::Status taken = self->client_->Take(message);
      if (!taken.ok()) return self->Refuse(websocket::close_code::policy_error, std::string(taken.message()));
      self->Read();
    });
  }

  void Write() {
    if (!accepted_ || writing_ || ended_) return;
    std::optional<std::string> message = client_->Next();
    if (!message) return;
    writing_ = true;
    written_by_ = std::chrono::steady_clock::now() + core_->options.write_timeout;
    message_ = *std::move(message);
    socket_.async_write(asio::buffer(message_), [self = shared_from_this()](error_code error, size_t) {
      self->writing_ = false;
      if (error) return self->End();
      self->Write();
    });
  }

  // Ends it when the site says so, or when its page does not take what is written.
  void Watch() {
    timer_.expires_after(kTick);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (error || self->ended_) return;
      const bool stuck = self->writing_ && std::chrono::steady_clock::now() > self->written_by_;
      if (stuck) return self->End();
      if (!self->core_->site->Keep(self->client_.get())) {
        return self->Refuse(websocket::close_code::going_away, "the server ends the connection");
      }
      self->Watch();
    });
  }

  void Refuse(websocket::close_code code, std::string reason) {
    if (ended_) return;
    ended_ = true;
    client_->Close();
    timer_.cancel();
    if (reason.size() > kMostReason) reason.resize(kMostReason);
    socket_.async_close({code, reason.c_str()}, [self = shared_from_this()](error_code) { self->CloseSocket(); });
    // A page that does not answer is not waited for.
    timer_.expires_after(kCloseTimeout);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (!error) self->CloseSocket();
    });
  }

  void End() {
    if (!ended_) client_->Close();
    ended_ = true;
    timer_.cancel();
    CloseSocket();
  }

  void CloseSocket() {
    timer_.cancel();
    beast::get_lowest_layer(socket_).close();
  }

  Core* const core_;
  const std::shared_ptr<ViewCrowd::Seat> seat_;
  websocket::stream<beast::tcp_stream> socket_;
  asio::steady_timer timer_;
  beast::flat_buffer buffer_;
  std::shared_ptr<ViewClient> client_;
  std::string message_;
  std::chrono::steady_clock::time_point written_by_;
  bool accepted_ = false;
  bool writing_ = false;
  bool ended_ = false;
};

// A connection until it becomes a socket, or ends.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Core* core, tcp::socket&& socket)
      : core_(core), stream_(std::move(socket)), buffer_(core->options.max_header_bytes + core->options.max_body_bytes) {}

  // Begins, if there is a place for it.
  void Begin() {
    error_code error;
    const tcp::endpoint peer = stream_.socket().remote_endpoint(error);
    seat_ = core_->crowd.Enter(error ? "" : peer.address().to_string(), [weak = weak_from_this()] {
      if (const std::shared_ptr<Connection> self = weak.lock()) self->End();
    });
    if (seat_ != nullptr) Read();
  }

 private:
  void Read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(core_->options.max_header_bytes));
    parser_->body_limit(core_->options.max_body_bytes);
    stream_.expires_after(seat_->known() ? core_->options.request_timeout : core_->options.stranger_timeout);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, size_t) { self->OnRead(error); });
  }

  void OnRead(error_code error) {
    if (error) return Complain(error);
    const http::request<http::string_body> request = parser_->release();
    const ViewQuery query = QueryOf(request, stream_.socket());
    seat_->SetKnown(core_->site->Knows(query));
    if (websocket::is_upgrade(request)) return Upgrade(request, query);
    if (request.method() != http::verb::get && request.method() != http::verb::post) {
      return Send({405, "text/plain", "METHOD: GET or POST\n", {}}, false);
    }
    stream_.expires_never();
    core_->answering.insert(shared_from_this());
    core_->site->Answer(query,
                        [of = core_->weak_from_this(), weak = weak_from_this(), keep = request.keep_alive()](ViewReply reply) {
                          const std::shared_ptr<Core> core = of.lock();
                          if (core == nullptr || core->stopping) return;
                          asio::post(core->context, [core = core.get(), weak, keep, reply = std::move(reply)]() mutable {
                            const std::shared_ptr<Connection> self = weak.lock();
                            if (self == nullptr) return;
                            core->answering.erase(self);
                            self->Send(std::move(reply), keep);
                          });
                        });
  }

  // Says what is wrong with a request, when there is somebody to hear it.
  void Complain(error_code error) {
    // Of a chunk's extension nothing else bounds the length.
    if (error == http::error::body_limit || error == http::error::header_limit || error == http::error::buffer_overflow) {
      return Send({413, "text/plain", "TOO_LARGE: the request is longer than this server takes\n", {}}, false);
    }
    const bool gone = error == http::error::end_of_stream || error == beast::error::timeout ||
                      error.category() == boost::system::system_category() || error.category() == asio::error::get_misc_category();
    if (gone) return Close();
    Send({400, "text/plain", "MALFORMED: this is no request of HTTP\n", {}}, false);
  }

  void Upgrade(const http::request<http::string_body>& request, const ViewQuery& query) {
    if (query.path != "/socket") return Send({404, "text/plain", "NOT_FOUND: the socket is at /socket\n", {}}, false);
    const auto socket = std::make_shared<Socket>(core_, std::move(stream_), seat_);
    ViewReply refusal;
    if (socket->Open(query, &refusal)) return socket->Accept(request);
    refused_ = socket;
    SendOn(socket->stream(), std::move(refusal), false);
  }

  void Send(ViewReply reply, bool keep_alive) { SendOn(stream_, std::move(reply), keep_alive); }

  void SendOn(beast::tcp_stream& stream, ViewReply reply, bool keep_alive) {
    memory_ = std::move(reply.memory);
    response_.emplace(ResponseOf(std::move(reply), 11, keep_alive));
    stream.expires_after(core_->options.write_timeout);
    http::async_write(stream, *response_, [self = shared_from_this(), &stream, keep_alive](error_code error, size_t) {
      self->response_.reset();
      self->memory_.reset();
      if (error || !keep_alive) {
        error_code ignored;
        stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
        return;
      }
      self->Read();
    });
  }

  // At once: what is read or written fails.
  void End() {
    stream_.close();
    if (refused_ != nullptr) refused_->stream().close();
  }

  void Close() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
  }

  Core* const core_;
  std::shared_ptr<ViewCrowd::Seat> seat_;
  beast::tcp_stream stream_;
  std::shared_ptr<Socket> refused_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::string_body>> response_;
  std::shared_ptr<void> memory_;  // of the response
};

void Accept(Core* core) {
  core->acceptor.async_accept([core](error_code error, tcp::socket socket) {
    if (!core->acceptor.is_open()) return;
    if (error) {  // no descriptor is free: others close
      core->retry.expires_after(kTick);
      core->retry.async_wait([core](error_code waited) {
        if (!waited) Accept(core);
      });
      return;
    }
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::make_shared<Connection>(core, std::move(socket))->Begin();
    Accept(core);
  });
}

absl::Status Cannot(const std::string& host, int port, const error_code& error) {
  return absl::UnavailableError(absl::StrCat("the viewer cannot listen on ", host, ":", port, ": ", error.message()));
}

}  // namespace

struct ViewTransport::Impl {
  explicit Impl(const Options& options) : core(std::make_shared<Core>(options)) {}
  const std::shared_ptr<Core> core;
  std::thread thread;
};

ViewTransport::ViewTransport(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

ViewTransport::~ViewTransport() { Stop(); }

absl::StatusOr<std::unique_ptr<ViewTransport>> ViewTransport::Listen(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  tcp::acceptor& acceptor = impl->core->acceptor;
  error_code error;
  const std::string& host = options.host;
  const std::string name = host == "localhost" ? "127.0.0.1" : host.front() == '[' ? host.substr(1, host.size() - 2) : host;
  const tcp::endpoint endpoint(asio::ip::make_address(name, error), static_cast<std::uint16_t>(options.port));
  if (!error) acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return Cannot(host, options.port, error);
  return std::unique_ptr<ViewTransport>(new ViewTransport(std::move(impl)));
}

int ViewTransport::port() const {
  error_code error;
  return impl_->core->acceptor.local_endpoint(error).port();
}

void ViewTransport::Serve(std::unique_ptr<ViewSite> site) {
  impl_->core->site = std::move(site);
  Accept(impl_->core.get());
  impl_->thread = std::thread([core = impl_->core.get()] {
    pthread_setname_np(pthread_self(), "eipc-viewer");  // apart from the others in measurements
    core->context.run();
  });
}

void ViewTransport::Stop() {
  if (impl_->core->stopping.exchange(true)) return;
  impl_->core->context.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace eipc::rpc
