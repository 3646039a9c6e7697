#include "server/rpc/view/view_access.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "server/session/ids.h"

namespace eipc::rpc {
namespace {

constexpr absl::string_view kSecure = "https://";

bool EqualsIgnoringCase(absl::string_view a, absl::string_view b) { return absl::EqualsIgnoreCase(a, b); }

}  // namespace

bool ViewAccess::KnowsHost(absl::string_view host) const {
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (EqualsIgnoringCase(host, absl::StrCat(name, ":", options_.port))) return true;
    if (options_.port == 80 && EqualsIgnoringCase(host, name)) return true;
  }
  return std::any_of(options_.origins.begin(), options_.origins.end(),
                     [host](const std::string& origin) { return EqualsIgnoringCase(host, origin.substr(origin.find("://") + 3)); });
}

bool ViewAccess::KnowsOrigin(absl::string_view origin) const {
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) {
    if (EqualsIgnoringCase(origin, absl::StrCat("http://", name, ":", options_.port))) return true;
    if (options_.port == 80 && EqualsIgnoringCase(origin, absl::StrCat("http://", name))) return true;
  }
  return std::any_of(options_.origins.begin(), options_.origins.end(),
                     [origin](const std::string& known) { return EqualsIgnoringCase(origin, known); });
}

std::optional<Caller> ViewAccess::ByToken(absl::string_view token) const {
  if (open()) return Caller{};
  return options_.access->Get()->ByToken(token);
}

std::string ViewAccess::CookieName() const { return absl::StrCat("eipc_viewer_", options_.port); }

std::optional<std::string> ViewAccess::CookieOf(absl::string_view cookies) const {
  const std::string begin = absl::StrCat(CookieName(), "=");
  for (absl::string_view part : absl::StrSplit(cookies, ';')) {
    part = absl::StripAsciiWhitespace(part);
    if (absl::StartsWith(part, begin)) return std::string(part.substr(begin.size()));
  }
  return std::nullopt;
}

std::optional<Caller> ViewAccess::ByCookies(absl::string_view cookies) const {
  if (open()) return Caller{};
  const std::optional<std::string> secret = CookieOf(cookies);
  if (!secret) return std::nullopt;
  const std::string key = Sha256Hex(*secret);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Pass& pass : cookies_) {
    if (pass.key == key && options_.now() < pass.until && StillIn(pass.caller)) return pass.caller;
  }
  return std::nullopt;
}

std::string ViewAccess::Issue(std::list<Pass>* passes, size_t most, const Caller& caller, Clock::time_point until) {
  std::string secret = RandomHex128();
  if (passes->size() >= most) passes->pop_front();
  passes->push_back({Sha256Hex(secret), caller, until});
  return secret;
}

std::string ViewAccess::CookieFor(const Caller& caller, absl::string_view host) {
  const bool secure = std::any_of(options_.origins.begin(), options_.origins.end(), [host](const std::string& origin) {
    return EqualsIgnoringCase(origin, absl::StrCat(kSecure, host));
  });
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string secret = Issue(&cookies_, kMostCookies, caller, options_.now() + kCookieLife);
  return absl::StrCat(CookieName(), "=", secret,
                      "; Path=/; HttpOnly; SameSite=Strict; Max-Age=", std::chrono::seconds(kCookieLife).count(),
                      secure ? "; Secure" : "");
}

std::string ViewAccess::TicketFor(const Caller& caller) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Issue(&tickets_, kMostTickets, caller, options_.now() + kTicketLife);
}

std::optional<Caller> ViewAccess::Redeem(const std::string& ticket) {
  const std::string key = Sha256Hex(ticket);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find_if(tickets_.begin(), tickets_.end(), [&key](const Pass& pass) { return pass.key == key; });
  if (found == tickets_.end()) return std::nullopt;
  const Pass pass = std::move(*found);
  tickets_.erase(found);
  if (options_.now() >= pass.until || !StillIn(pass.caller)) return std::nullopt;
  return pass.caller;
}

std::string ViewAccess::SignOut(absl::string_view cookies) {
  if (const std::optional<std::string> secret = CookieOf(cookies)) {
    const std::string key = Sha256Hex(*secret);
    const std::lock_guard<std::mutex> lock(mutex_);
    cookies_.remove_if([&key](const Pass& pass) { return pass.key == key; });
  }
  return absl::StrCat(CookieName(), "=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
}

}  // namespace eipc::rpc
