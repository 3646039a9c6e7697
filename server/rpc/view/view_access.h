#ifndef EIPC_SERVER_RPC_VIEW_VIEW_ACCESS_H_
#define EIPC_SERVER_RPC_VIEW_VIEW_ACCESS_H_

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "server/session/access.h"

namespace eipc::rpc {

// Who may view and drive: the callers that the access file lets in. A browser shows a token once and gets a cookie, which scripts
// cannot read and other sites cannot use; or it brings a ticket, which was given for a token and holds once, for a minute.
//
// Without an access file everyone who can connect may, as over gRPC; then pages of other sites, which a browser lets connect to any
// address, are kept out by Host and Origin alone, as they are with one. Thread-safe.
class ViewAccess {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kTicketLife{60};
  static constexpr std::chrono::hours kCookieLife{12};
  // The most of each; the oldest make room for new ones.
  static constexpr size_t kMostTickets = 256;
  static constexpr size_t kMostCookies = 1024;

  struct Options {
    std::shared_ptr<const AccessSource> access;  // null: everyone may
    int port = 0;                                // where the page is served, on the loopback interface
    std::vector<std::string> origins;            // "https://HOST[:PORT]" of proxies in front, beside those of the port
    Clock::time_point (*now)() = Clock::now;
  };
  explicit ViewAccess(Options options) : options_(std::move(options)) {}

  bool open() const { return options_.access == nullptr; }
  // Names that a browser may have asked for: a page under another name that resolves to this address is another site's.
  bool KnowsHost(absl::string_view host) const;
  // Whether a page of this origin may change something or open a socket. Browsers always say it there; programs that are none may
  // leave it out, they have no cookies of others.
  bool KnowsOrigin(absl::string_view origin) const;

  std::optional<Caller> ByToken(absl::string_view token) const;
  // `cookies`: the header.
  std::optional<Caller> ByCookies(absl::string_view cookies) const;
  // The header Set-Cookie for a caller. `host`: what the browser asked for; it decides whether the cookie needs TLS.
  std::string CookieFor(const Caller& caller, absl::string_view host);
  std::string TicketFor(const Caller& caller);
  // Spends it.
  std::optional<Caller> Redeem(const std::string& ticket);
  // Forgets the cookie; the header that deletes it.
  std::string SignOut(absl::string_view cookies);
  // Whether a connection of this caller may go on.
  bool StillIn(const Caller& caller) const { return open() || options_.access->Get()->StillKnows(caller); }

 private:
  struct Pass {
    std::string key;  // hash of the secret: the time of a look-up reveals nothing
    Caller caller;
    Clock::time_point until;
  };
  std::string CookieName() const;
  std::optional<std::string> CookieOf(absl::string_view cookies) const;
  static std::string Issue(std::list<Pass>* passes, size_t most, const Caller& caller, Clock::time_point until);

  const Options options_;
  mutable std::mutex mutex_;
  // Guarded by mutex_, oldest first.
  std::list<Pass> tickets_;
  std::list<Pass> cookies_;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_VIEW_VIEW_ACCESS_H_
