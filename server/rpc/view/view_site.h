#ifndef EIPC_SERVER_RPC_VIEW_VIEW_SITE_H_
#define EIPC_SERVER_RPC_VIEW_VIEW_SITE_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "server/rpc/view/view_access.h"
#include "server/rpc/view/view_host.h"
#include "server/rpc/view/view_page.h"
#include "server/rpc/view/view_query.h"

namespace eipc::rpc {

// What the viewer serves:
//
//   GET  /, /viewer.js, /viewer.css   the page; /?ticket=... signs in and leads to /
//   GET  /status                      JSON: whether the browser is signed in, and how it can be
//   POST /sign-in                     the token as body; a cookie
//   POST /sign-out
//   POST /ticket                      with `Authorization: Bearer TOKEN`; a ticket, JSON
//   GET  /recording?session=NAME      what a session has recorded (GetRecording)
//   GET  /socket                      a WebSocket of ViewerRequest and ViewerMessage
//
// Every request must name a host that is the server's, and a request that changes something, or opens a socket, its origin.
class StandardViewSite final : public ViewSite {
 public:
  // Sockets at once; half of them of one tenant, where there are tenants.
  static constexpr int kMostSockets = 64;

  StandardViewSite(std::shared_ptr<const ViewHost> host, ViewPage page, ViewAccess::Options access)
      : host_(std::move(host)), page_(std::move(page)), access_(std::move(access)) {}

  void Answer(const ViewQuery& query, std::function<void(ViewReply)> done) override;
  std::shared_ptr<ViewClient> Connect(const ViewQuery& query, std::function<void()> wake, ViewReply* refusal) override;
  bool Knows(const ViewQuery& query) const override;
  bool Keep(ViewClient* client) override;

  int sockets() const { return sockets_->all.load(); }

 private:
  struct Sockets {
    std::atomic<int> all = 0;
    std::mutex mutex;
    std::map<std::string, int> of_tenant;  // guarded by mutex
  };

  ViewReply AnswerNow(const ViewQuery& query);
  ViewReply AnswerPost(const ViewQuery& query);
  ViewReply Status(const ViewQuery& query) const;
  ViewReply SpendTicket(const ViewQuery& query);
  void SendRecording(const ViewQuery& query, const std::function<void(ViewReply)>& done) const;

  const std::shared_ptr<const ViewHost> host_;
  const ViewPage page_;
  ViewAccess access_;
  const std::shared_ptr<Sockets> sockets_ = std::make_shared<Sockets>();
};

// The value of a parameter of a query, decoded; empty where there is none.
std::string QueryValue(absl::string_view query, absl::string_view name);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_VIEW_VIEW_SITE_H_
