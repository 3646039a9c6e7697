#include "server/rpc/view/view_site.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "server/rpc/handlers/calls.h"
#include "server/rpc/handlers/reason.h"
#include "server/rpc/view/view_client.h"
#include "server/session/guarded.h"
#include "server/session/ids.h"

namespace eipc::rpc {
namespace {

constexpr size_t kMostTokenBytes = 4096;
constexpr std::chrono::seconds kLongestWait{30};

ViewReply Refusal(int status, const std::string& text) { return {status, "text/plain; charset=utf-8", text + "\n", {}}; }

ViewReply NotSignedIn() {
  return Refusal(401, "NOT_SIGNED_IN: open the page and sign in with your token, or with a new ticket of POST /ticket");
}

std::optional<absl::string_view> BearerOf(absl::string_view authorization) {
  constexpr absl::string_view kBearer = "Bearer ";
  if (!absl::StartsWithIgnoreCase(authorization, kBearer)) return std::nullopt;
  return authorization.substr(kBearer.size());
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return absl::ascii_isxdigit(static_cast<unsigned char>(c)) ? absl::ascii_tolower(c) - 'a' + 10 : -1;
}

std::string Decoded(absl::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 && HexDigit(text[i + 2]) >= 0;
    out += escape ? static_cast<char>(16 * HexDigit(text[i + 1]) + HexDigit(text[i + 2])) : text[i];
    if (escape) i += 2;
  }
  return out;
}

}  // namespace

std::string QueryValue(absl::string_view query, absl::string_view name) {
  for (const absl::string_view part : absl::StrSplit(query, '&')) {
    const std::pair<absl::string_view, absl::string_view> pair = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (pair.first == name) return Decoded(pair.second);
  }
  return "";
}

void StandardViewSite::Answer(const ViewQuery& query, std::function<void(ViewReply)> done) {
  if (access_.KnowsHost(query.host) && !query.post && query.path == "/recording") return SendRecording(query, done);
  ViewReply reply = AnswerNow(query);
  AddSafetyHeaders(&reply);
  done(std::move(reply));
}

ViewReply StandardViewSite::AnswerNow(const ViewQuery& query) {
  if (!access_.KnowsHost(query.host)) {
    return Refusal(421,
                   "WRONG_HOST: this server is not called that; use the address that it printed, or name the proxy's with "
                   "--viewer-origin");
  }
  if (query.post) return AnswerPost(query);
  if (query.path == "/status") return Status(query);
  if (query.path == "/" && absl::StartsWith(query.query, "ticket=")) return SpendTicket(query);
  if (query.path == "/favicon.ico") return {204, "", "", {}};  // browsers ask for one
  ViewReply reply;
  if (page_.Answer(query.path, &reply)) return reply;
  return Refusal(404, "NOT_FOUND: there is nothing here; the page is at /");
}

ViewReply StandardViewSite::AnswerPost(const ViewQuery& query) {
  if (query.path == "/ticket") {
    const std::optional<absl::string_view> token = BearerOf(query.authorization);
    const std::optional<Caller> caller = access_.open() ? Caller{} : token ? access_.ByToken(*token) : std::nullopt;
    if (!caller) return Refusal(401, "UNAUTHENTICATED: no such token");
    return {200, "application/json", nlohmann::json({{"ticket", access_.TicketFor(*caller)}}).dump(), {}};
  }
  if (!access_.KnowsOrigin(query.origin)) return Refusal(403, "WRONG_ORIGIN: pages of other sites may not do this");
  if (query.path == "/sign-in") {
    const absl::string_view token = absl::StripAsciiWhitespace(query.body);
    const std::optional<Caller> caller = token.size() <= kMostTokenBytes ? access_.ByToken(token) : std::nullopt;
    if (!caller) return Refusal(401, "UNAUTHENTICATED: no such token; the operator of the server issues tokens");
    return {204, "", "", {{"Set-Cookie", access_.CookieFor(*caller, query.host)}}};
  }
  if (query.path == "/sign-out") return {204, "", "", {{"Set-Cookie", access_.SignOut(query.cookies)}}};
  return Refusal(404, "NOT_FOUND: there is nothing here");
}

ViewReply StandardViewSite::Status(const ViewQuery& query) const {
  const std::optional<Caller> caller = access_.ByCookies(query.cookies);
  nlohmann::json status = {{"signed_in", caller.has_value()}, {"needs_token", !access_.open()}};
  if (caller && !access_.open()) {
    status["tenant"] = caller->tenant;
    status["role"] = RoleName(caller->role);
  }
  return {200, "application/json", status.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace), {}};
}

// The address with the ticket is left at once, so that it is in no history.
ViewReply StandardViewSite::SpendTicket(const ViewQuery& query) {
  const std::optional<Caller> caller = access_.Redeem(QueryValue(query.query, "ticket"));
  ViewReply reply = {303, "", "", {{"Location", caller ? "/" : "/#ticket-spent"}}};
  if (caller && !access_.open()) reply.headers.emplace_back("Set-Cookie", access_.CookieFor(*caller, query.host));
  return reply;
}

void StandardViewSite::SendRecording(const ViewQuery& query, const std::function<void(ViewReply)>& done) const {
  const auto send = [done](ViewReply reply) {
    AddSafetyHeaders(&reply);
    done(std::move(reply));
  };
  const std::optional<Caller> caller = access_.ByCookies(query.cookies);
  if (!caller) return send(NotSignedIn());
  const std::string session = QueryValue(query.query, "session");
  const bool runs = host_->run(caller->tenant, [host = host_, tenant = caller->tenant, session, send] {
    CallContext context;
    context.budget.deadline = std::chrono::steady_clock::now() + kLongestWait;
    context.tenant = tenant;
    v1::GetRecordingRequest request;
    request.set_session(session);
    absl::StatusOr<RecordingCopy> copy = Guarded([&] { return GetRecording(*host->services, context, request); });
    if (!copy.ok())
      return send(Refusal(absl::IsNotFound(copy.status()) ? 404 : 409, std::string(ForWire(copy.status()).message())));
    const std::string name = Printable(session.substr(session.rfind('/') + 1));
    send(
        {200,
         "application/octet-stream",
         std::move(copy->bytes),
         {{"Content-Disposition", absl::StrCat("attachment; filename=\"", absl::StrReplaceAll(name, {{"\"", "_"}}), ".eipcrec\"")}},
         std::make_shared<KeptMemory>(std::move(copy->memory))});
  });
  if (!runs) send(Refusal(503, "NO_THREAD: try again later"));
}

std::shared_ptr<ViewClient> StandardViewSite::Connect(const ViewQuery& query, std::function<void()> wake, ViewReply* refusal) {
  const auto refuse = [refusal](ViewReply reply) -> std::shared_ptr<ViewClient> {
    *refusal = std::move(reply);
    AddSafetyHeaders(refusal);
    return nullptr;
  };
  if (!access_.KnowsHost(query.host)) return refuse(AnswerNow(query));
  if (!access_.KnowsOrigin(query.origin)) return refuse(Refusal(403, "WRONG_ORIGIN: pages of other sites may not connect"));
  const std::optional<Caller> caller = access_.ByCookies(query.cookies);
  if (!caller) return refuse(NotSignedIn());
  if (host_->draining()) return refuse(Refusal(503, "SERVER_STOPPING: the server is stopping"));
  const std::shared_ptr<Sockets> sockets = sockets_;
  const std::string& tenant = caller->tenant;
  {
    const std::lock_guard<std::mutex> lock(sockets->mutex);
    const int most = access_.open() ? kMostSockets : kMostSockets / 2;
    if (sockets->all >= kMostSockets || sockets->of_tenant[tenant] >= most) {
      return refuse(Refusal(503, "TOO_MANY_VIEWERS: close another page of the viewer, or try again later"));
    }
    ++sockets->all;
    ++sockets->of_tenant[tenant];
  }
  const auto leave = [sockets, tenant](ViewClient* client) {
    delete client;
    const std::lock_guard<std::mutex> lock(sockets->mutex);
    --sockets->all;
    if (--sockets->of_tenant[tenant] == 0) sockets->of_tenant.erase(tenant);
  };
  return {new ViewClient(host_, *caller, query.peer, std::move(wake)), leave};
}

// Without an access file nobody has any.
bool StandardViewSite::Knows(const ViewQuery& query) const {
  return !access_.open() && access_.ByCookies(query.cookies).has_value();
}

bool StandardViewSite::Keep(ViewClient* client) {
  if (client->closed() || host_->draining() || !access_.StillIn(client->caller())) return false;
  client->Tick(LiveWatch::Clock::now());
  return true;
}

}  // namespace eipc::rpc
