#include "server/proxy_config.h"

#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "eipc/v1/service.pb.h"
#include "server/rpc/listen/listen_address.h"
#include "server/session/access.h"
#include "sim/base/status_macros.h"

namespace eipc {
namespace {

using rpc::GrpcServerOptions;
using rpc::ListenAddress;

constexpr int kStreamsPerConnection = 100;
// All addresses together may hold this multiple of the calls of one. Each takes some 20 KiB of the proxy's memory when its client
// does not read.
constexpr int kCallsOverPerAddress = 4;
// Descriptors beside those of clients and calls: checks, health port, listeners, logs.
constexpr int kSpareDescriptors = 256;
// The share of its address's bound of unanswered calls beyond which a connection is one of those that flood.
constexpr int kGuiltyShare = 16;
constexpr int kHealthConnections = 64;
// Of the proxy. Large answers go through it buffer by buffer: with 16 KiB one of 1.1 MB took four times as long as without a proxy,
// with these less than twice as long. Pages of a buffer that nothing was written to take no memory.
constexpr int kBufferBytes = 128 << 10;
constexpr int kWindowBytes = 256 << 10;
constexpr int kMostHeaderBytes = 15 << 10;
constexpr char kMessageFilter[] = "eipc-server-messages.lua";
constexpr char kAddress[] = "src,ipmask(32,64)";

absl::Status Unsafe(const std::string& listen, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat("PROXY_UNSAFE: --proxy-listen '", listen, "': ", text));
}

// Names of files are written between quotes in which HAProxy interprets nothing.
absl::StatusOr<std::string> Quoted(const char* flag, const std::string& path) {
  for (const char c : path) {
    if (c == '\'' || static_cast<unsigned char>(c) < ' ') {
      return absl::InvalidArgumentError(
          absl::StrCat("PROXY_PATH: ", flag, ": quotes and control characters cannot be written in HAProxy's configuration; ",
                       "rename '", absl::CEscape(path), "'"));
    }
  }
  return absl::StrCat("'", path, "'");
}

std::string Ms(std::chrono::milliseconds time) { return absl::StrCat(time.count(), "ms"); }

absl::StatusOr<ListenAddress> TcpAddress(const char* flag, const std::string& text) {
  const absl::StatusOr<ListenAddress> address = rpc::ParseListenAddress(text);
  if (!address.ok()) return absl::InvalidArgumentError(absl::StrCat("PROXY_ADDRESS: ", flag, " ", address.status().message()));
  const bool written = address->host.find_first_of(" '\"\\\t\n#,@") == std::string::npos;
  if (!address->path.empty() || address->port == 0 || !written) {
    return absl::InvalidArgumentError(
        absl::StrCat("PROXY_ADDRESS: ", flag, " '", text, "': must be HOST:PORT with a port of its own"));
  }
  return address;
}

// How the proxy reaches the server.
absl::StatusOr<std::string> ServerAddress(const ProxyOptions& proxy, const GrpcServerOptions& server) {
  EIPC_ASSIGN_OR_RETURN(const ListenAddress address, rpc::ParseListenAddress(server.listen));
  if (!address.path.empty()) return Quoted("--listen", absl::StrCat("unix@", address.path));
  if (!proxy.client_ca.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("PROXY_UNSAFE: --listen '", server.listen,
                                                   "': names of client certificates are ",
                                                   "handed on over a Unix socket only; give --listen unix:PATH"));
  }
  if (!address.loopback || address.port == 0) {
    return absl::InvalidArgumentError(absl::StrCat("PROXY_UNSAFE: --listen '", server.listen,
                                                   "': behind the proxy the server listens ",
                                                   "on unix:PATH, or on a port of the loopback interface"));
  }
  return server.listen;
}

// Off loopback calls must be encrypted and callers known.
absl::Status CheckExposure(const ListenAddress& address, const ProxyOptions& proxy, const GrpcServerOptions& server) {
  if (proxy.certificate.empty() && !proxy.client_ca.empty()) return Unsafe(proxy.listen, "--proxy-client-ca needs --proxy-cert");
  if (address.loopback) return absl::OkStatus();
  if (proxy.certificate.empty()) return Unsafe(proxy.listen, "only loopback is served without TLS; give --proxy-cert");
  if (server.access_file.empty() && proxy.client_ca.empty()) {
    return Unsafe(proxy.listen, "off loopback callers must be known; give --access-file, --proxy-client-ca or both");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> BindLine(const ProxyOptions& proxy, const GrpcServerOptions& server) {
  // What the client's kernel does not take in this time ends the connection.
  std::string line = absl::StrCat("  bind ", proxy.listen, " proto h2 tcp-ut ", Ms(server.write_timeout));
  if (proxy.certificate.empty()) return absl::StrCat(line, "\n");
  EIPC_ASSIGN_OR_RETURN(const std::string certificate, Quoted("--proxy-cert", proxy.certificate));
  absl::StrAppend(&line, " ssl crt ", certificate, " alpn h2 ssl-min-ver TLSv1.2");
  if (proxy.client_ca.empty()) return absl::StrCat(line, "\n");
  // Callers with a token need no certificate.
  bool tokens = false;
  if (!server.access_file.empty()) {
    EIPC_ASSIGN_OR_RETURN(const AccessList access, AccessList::Load(server.access_file));
    tokens = access.has_tokens();
  }
  EIPC_ASSIGN_OR_RETURN(const std::string authorities, Quoted("--proxy-client-ca", proxy.client_ca));
  return absl::StrCat(line, " ca-file ", authorities, " verify ", tokens ? "optional" : "required", "\n");
}

// The Lua program that follows the lengths of messages.
absl::StatusOr<std::string> MessageFilter(const ProxyOptions& proxy) {
  if (!proxy.message_filter.empty()) return Quoted("--proxy-message-filter", proxy.message_filter);
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return absl::InvalidArgumentError("PROXY_PATH: where this program is cannot be found; give --proxy-message-filter");
  return Quoted("--proxy-message-filter", program.parent_path() / kMessageFilter);
}

std::string Global(const ProxyOptions& proxy, const GrpcServerOptions& server, const std::string& message_filter) {
  const int connections = proxy.max_connections + kHealthConnections;
  const int calls = kCallsOverPerAddress * proxy.max_calls_per_address;
  return absl::Substitute(R"(global
  log stderr format raw local0 err
  maxconn $0
  ulimit-n $1
  noreuseport
  ssl-load-extra-files key
  ssl-load-extra-del-ext
  # Headers: those of a request fit what maxrewrite leaves of a buffer, and what they are compressed with the smallest table.
  tune.bufsize $7
  tune.maxrewrite $8
  tune.http.maxhdr 64
  tune.h2.header-table-size 4096
  # Bytes of an answer in flight: several buffers, or its sender waits for each of them.
  tune.h2.initial-window-size $9
  tune.h2.max-concurrent-streams $2
  lua-load-per-thread $6

defaults
  mode http
  log global
  retries 0
  timeout connect 5s
  timeout http-request $3
  timeout http-keep-alive 10m
  # For a TLS handshake, for the first words of HTTP/2, and for a client to take what is there for it. Calls that wait for requests or for the server are not meant.
  timeout client $5
  timeout server $4
  timeout client-fin 10s
  timeout server-fin 10s
  http-error status 400 hdr grpc-status %[var(txn.grpc_status,13)] hdr grpc-message "%[var(txn.grpc_message,'BAD_REQUEST: not a request of HTTP/2')]"
  http-error status 408 hdr grpc-status 14 hdr grpc-message "IDLE: nothing was sent for too long; call again"
  http-error status 502 hdr grpc-status 14 hdr grpc-message "SERVER_GONE: the server ended the connection; call again"
  http-error status 503 hdr grpc-status 14 hdr grpc-message "SERVER_DOWN: the server does not answer; call again later"
  http-error status 504 hdr grpc-status 14 hdr grpc-message "IDLE: nothing was sent for too long; call again"

)",
                          connections, 2 * connections + calls + kSpareDescriptors, kStreamsPerConnection,
                          Ms(proxy.handshake_timeout), Ms(proxy.idle_timeout), Ms(server.write_timeout), message_filter,
                          kBufferBytes, kBufferBytes - kMostHeaderBytes, kWindowBytes);
}

// What is counted: connections and calls by address, calls by connection, addresses that are refused for a while.
constexpr char kTables[] = R"(backend by_address
  stick-table type ipv6 size 100k expire 1m store conn_cur,conn_rate(1s),http_req_rate(1s),gpc0_rate(1s),gpc1_rate(1s)
backend by_connection
  stick-table type string len 64 size 20k expire 10s store gpc0_rate(1s),gpc1_rate(1s)
backend calls_by_address
  stick-table type ipv6 size 100k expire 1m store conn_cur
backend flooding
  stick-table type ipv6 size 100k expire 5s store gpt0

)";

// Bounds of an address. Answered by the proxy as gRPC answers, without asking the server.
std::string AddressRules(const ProxyOptions& proxy) {
  const int calls = proxy.max_calls_per_address;
  return absl::Substitute(R"(  tcp-request connection track-sc0 $0 table by_address
  tcp-request connection silent-drop if { $0,in_table(flooding) }
  tcp-request connection silent-drop if { sc0_conn_rate gt $1 }
  tcp-request connection reject if { sc0_conn_cur gt $2 }
  tcp-request session set-var-fmt(sess.peer) %[src]:%[src_port]
  http-request silent-drop if { sc_http_req_rate(0) gt $3 }
  http-request return status 200 hdr grpc-status 8 hdr grpc-message "CALL_RATE: more than $4 calls a second from one address; call less often" if { sc_http_req_rate(0) gt $4 }
  # Calls that are begun and reset (CVE-2023-44487): more begun than answered.
  http-request track-sc1 var(sess.peer) table by_connection
  http-request sc-inc-gpc0(0)
  http-request sc-inc-gpc0(1)
  http-response sc-inc-gpc1(0)
  http-response sc-inc-gpc1(1)
  http-request set-var(txn.of_address) sc_gpc1_rate(0)
  http-request set-var(txn.of_connection) sc_gpc1_rate(1)
  acl address_floods sc_gpc0_rate(0),sub(txn.of_address) gt $5
  acl connection_floods sc_gpc0_rate(1),sub(txn.of_connection) gt $6
  http-request track-sc2 $0 table flooding if address_floods connection_floods
  http-request silent-drop if address_floods connection_floods
  http-request track-sc2 $0 table calls_by_address
  http-request return status 200 hdr grpc-status 8 hdr grpc-message "CALLS_OF_ADDRESS: one address may hold $7 calls; read the answers of those that are open" if { sc_conn_cur(2) gt $7 }
  http-request set-var(txn.streams) be_conn(streams)
  http-request return status 200 hdr grpc-status 8 hdr grpc-message "CALLS_OF_PROXY: too many calls are open; call again later" if { be_conn(calls),add(txn.streams) gt $8 }
)",
                          kAddress, proxy.connections_per_second, proxy.max_connections_per_address, 2 * proxy.calls_per_second,
                          proxy.calls_per_second, proxy.unanswered_calls_per_second,
                          proxy.unanswered_calls_per_second / kGuiltyShare, calls, kCallsOverPerAddress * calls);
}

struct Method {
  std::string path;
  bool streams = false;
};

// What the server answers, gRPC's own services included.
std::vector<Method> Methods() {
  std::vector<Method> methods = {{"/grpc.health.v1.Health/Check", false},
                                 {"/grpc.health.v1.Health/Watch", true},
                                 {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", true}};
  const google::protobuf::ServiceDescriptor* const service =
      v1::StepRequest::descriptor()->file()->pool()->FindServiceByName("eipc.v1.SimulationService");
  for (int i = 0; i < service->method_count(); ++i) {
    const google::protobuf::MethodDescriptor& method = *service->method(i);
    methods.push_back(
        {absl::StrCat("/", service->full_name(), "/", method.name()), method.client_streaming() || method.server_streaming()});
  }
  return methods;
}

// Calls of methods that do not exist are answered here, once their request is there: the proxy ends a stream whose request is still
// in transit with a reset, which can overtake the answer. Calls that stream go to a backend of their own.
std::string MethodRules() {
  std::string rules;
  for (const Method& method : Methods()) {
    absl::StrAppend(&rules, "  acl method_exists path ", method.path, "\n");
    if (method.streams) absl::StrAppend(&rules, "  acl method_streams path ", method.path, "\n");
  }
  // http-response rules do not see these answers.
  return absl::StrCat(rules, R"(  http-request wait-for-body time 1s if !method_exists
  http-request sc-inc-gpc1(0) if !method_exists
  http-request sc-inc-gpc1(1) if !method_exists
  http-request return status 200 hdr grpc-status 12 hdr grpc-message "UNIMPLEMENTED: this server has no such method" if !method_exists
)");
}

std::string Identity(const ProxyOptions& proxy) {
  std::string rules = R"(  # The server believes these headers, because they come from here only.
  http-request del-header x-eipc- -m beg
  http-request set-header x-eipc-peer %[src]:%[src_port]
)";
  if (!proxy.client_ca.empty()) {
    absl::StrAppend(&rules, "  http-request set-header x-eipc-client-cert %[ssl_c_s_dn(CN)] ",
                    "if { ssl_c_used } { ssl_c_verify 0 } { ssl_c_s_dn(CN) -m found }\n");
  }
  return rules;
}

absl::StatusOr<std::string> Frontend(const ProxyOptions& proxy, const GrpcServerOptions& server) {
  EIPC_ASSIGN_OR_RETURN(const std::string bind, BindLine(proxy, server));
  return absl::StrCat("frontend eipc\n", bind, "  maxconn ", proxy.max_connections, "\n  filter lua.grpc-messages ",
                      int64_t{server.limits.max_message_mib} << 20, "\n", R"(  option clitcpka
  clitcpka-idle 60s
  clitcpka-intvl 10s
  clitcpka-cnt 6
)",
                      AddressRules(proxy), Identity(proxy),
                      "  http-request deny deny_status 400 if !METH_POST or !{ req.hdr(content-type) -m beg application/grpc }\n",
                      MethodRules(),
                      R"(  http-after-response set-header content-type application/grpc unless { res.hdr(content-type) -m found }
  use_backend streams if method_streams
  default_backend calls

)");
}

// A client's connection has connections to the server of its own: answers that it does not read hold up no other client. Each
// stream has one for itself, so that its unread answers do not hold up other calls of its client either.
std::string Backends(const std::string& address) {
  return absl::Substitute(R"(backend calls
  http-reuse never
  server eipc $0 proto h2
backend streams
  http-reuse never
  server eipc $0 proto h2 max-reuse 0
)",
                          address);
}

std::string Frame(char type, char flags, char stream, const std::string& payload) {
  const char header[] = {0, 0, static_cast<char>(payload.size()), type, flags, 0, 0, 0, stream};
  return absl::StrCat(std::string(header, sizeof(header)), payload);
}

// The bytes of a call to the health service, `service` of at most 100 characters: HTTP/2 with literal headers, in hex.
std::string HealthRequest(const std::string& service) {
  constexpr char kHeaders = 1, kData = 0, kSettings = 4, kEndStream = 1, kEndHeaders = 4;
  std::string headers;
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{":method", "POST"},
                                                                                    {":scheme", "http"},
                                                                                    {":path", "/grpc.health.v1.Health/Check"},
                                                                                    {":authority", "proxy"},
                                                                                    {"content-type", "application/grpc"},
                                                                                    {"te", "trailers"}}) {
    headers += std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
  }
  std::string message;
  if (!service.empty()) message = std::string("\n") + static_cast<char>(service.size()) + service;
  const std::string framed = std::string(4, '\0') + static_cast<char>(message.size()) + message;
  return absl::BytesToHexString(absl::StrCat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Frame(kSettings, 0, 0, ""),
                                             Frame(kHeaders, kEndHeaders, 1, headers), Frame(kData, kEndStream, 1, framed)));
}

// Asks the server's gRPC health service: SERVING is the message 08 01.
std::string HealthBackend(const std::string& name, const std::string& address, const std::string& service) {
  return absl::Substitute(R"(
backend $0
  option tcp-check
  timeout check 1s
  tcp-check connect proto none
  tcp-check send-binary $2
  tcp-check expect binary 00000000020801
  server eipc $1 check inter 1s fastinter 200ms downinter 500ms fall 2 rise 1
)",
                          name, address, HealthRequest(service));
}

absl::StatusOr<std::string> Health(const ProxyOptions& proxy, const GrpcServerOptions& server, const std::string& address) {
  if (proxy.health.empty()) return std::string();
  EIPC_RETURN_IF_ERROR(TcpAddress("--proxy-health", proxy.health).status());
  if (!server.open_health) {
    return absl::InvalidArgumentError(
        "PROXY_HEALTH: --proxy-health: the health port asks the server without credentials, which --closed-health refuses, so it "
        "would always answer 503; leave one of the two out");
  }
  std::string text = absl::StrCat("\nfrontend health\n  bind ", proxy.health, "\n  maxconn ", kHealthConnections, R"(
  timeout client 10s
  timeout http-keep-alive 10s
  http-request return status 200 content-type text/plain string "ready" if { path /healthz } { nbsrv(ready) gt 0 }
  http-request return status 503 content-type text/plain string "not ready" if { path /healthz }
  http-request return status 200 content-type text/plain string "alive" if { path /livez } { nbsrv(alive) gt 0 }
  http-request return status 503 content-type text/plain string "stuck" if { path /livez }
  http-request use-service prometheus-exporter if { path /metrics/proxy }
)");
  const bool metrics = !server.metrics.empty();
  absl::StrAppend(&text, "  http-request return status 404 content-type text/plain string \"not found\"",
                  metrics ? " unless { path /metrics }\n  default_backend metrics\n" : "\n");
  absl::StrAppend(&text, HealthBackend("ready", address, ""), HealthBackend("alive", address, "liveness"));
  if (metrics) absl::StrAppend(&text, "\nbackend metrics\n  timeout server 10s\n  server eipc ", server.metrics, "\n");
  return text;
}

}  // namespace

absl::StatusOr<std::string> ProxyConfiguration(const ProxyOptions& proxy, const GrpcServerOptions& server) {
  EIPC_ASSIGN_OR_RETURN(const ListenAddress listen, TcpAddress("--proxy-listen", proxy.listen));
  EIPC_RETURN_IF_ERROR(CheckExposure(listen, proxy, server));
  EIPC_ASSIGN_OR_RETURN(const std::string address, ServerAddress(proxy, server));
  EIPC_ASSIGN_OR_RETURN(const std::string filter, MessageFilter(proxy));
  EIPC_ASSIGN_OR_RETURN(const std::string frontend, Frontend(proxy, server));
  EIPC_ASSIGN_OR_RETURN(const std::string health, Health(proxy, server, address));
  return absl::StrCat("# HAProxy 2.6 in front of eipc-server, listening on ", proxy.listen,
                      ". Written by eipc-server --proxy-config; run it as the server's user.\n", Global(proxy, server, filter),
                      kTables, frontend, Backends(address), health);
}

}  // namespace eipc
