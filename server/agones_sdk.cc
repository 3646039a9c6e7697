#include "server/agones_sdk.h"

#include <cstdint>
#include <exception>
#include <limits>

// Asio 1.74 uses std::exchange without including <utility>; the header above does.
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "absl/strings/str_cat.h"

namespace eipc {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::asio::ip::tcp;

constexpr int kHttp11 = 11;

// One request on a connection of its own. Each step starts the next one; the first error ends it.
class Exchange {
 public:
  Exchange(boost::asio::io_context* io, const std::string& host, int port, const std::string& path)
      : resolver_(*io), stream_(*io), host_(host), port_(port), request_(http::verb::post, path, kHttp11) {
    request_.set(http::field::host, absl::StrCat(host, ":", port));
    request_.set(http::field::content_type, "application/json");
    request_.set(http::field::connection, "close");
    request_.body() = "{}";
    request_.prepare_payload();
  }

  void Start(std::chrono::milliseconds limit) {
    stream_.expires_after(limit);
    resolver_.async_resolve(host_, absl::StrCat(port_), [this](beast::error_code error, const tcp::resolver::results_type& found) {
      if (Failed(error)) return;
      stream_.async_connect(found, [this](beast::error_code problem, const tcp::endpoint&) {
        if (!Failed(problem)) Write();
      });
    });
  }

  absl::Status Result() const {
    if (!done_) return absl::UnavailableError("no answer in time");
    if (error_) return absl::UnavailableError(error_.message());
    const int status = answer_.get().result_int();
    if (status / 100 != 2) return absl::UnavailableError(absl::StrCat("status ", status));
    return absl::OkStatus();
  }

 private:
  void Write() {
    http::async_write(stream_, request_, [this](beast::error_code error, size_t) {
      if (Failed(error)) return;
      // What comes after the header is of no use, and may be of any length.
      answer_.body_limit(std::numeric_limits<uint64_t>::max());
      http::async_read_header(stream_, buffer_, answer_, [this](beast::error_code problem, size_t) {
        if (!Failed(problem)) done_ = true;
      });
    });
  }

  bool Failed(beast::error_code error) {
    if (!error) return false;
    error_ = error;
    done_ = true;
    return true;
  }

  tcp::resolver resolver_;
  beast::tcp_stream stream_;
  const std::string host_;
  const int port_;
  http::request<http::string_body> request_;
  beast::flat_buffer buffer_;
  http::response_parser<http::empty_body> answer_;
  beast::error_code error_;
  bool done_ = false;
};

}  // namespace

absl::Status AgonesSdk::Post(const std::string& path, std::chrono::milliseconds limit) const {
  absl::Status status;
  try {
    boost::asio::io_context io;
    Exchange exchange(&io, host_, port_, path);
    exchange.Start(limit);
    io.run_for(limit);
    status = exchange.Result();
  } catch (const std::exception& error) {  // no descriptor left, for example
    status = absl::UnavailableError(error.what());
  }
  if (status.ok()) return status;
  return absl::UnavailableError(absl::StrCat("Agones SDK at ", host_, ":", port_, path, ": ", status.message()));
}

}  // namespace eipc
