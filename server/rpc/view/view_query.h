#ifndef EIPC_SERVER_RPC_VIEW_VIEW_QUERY_H_
#define EIPC_SERVER_RPC_VIEW_VIEW_QUERY_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace eipc::rpc {

class ViewClient;

// The parts of an HTTP request that the viewer reads. A header that was sent more than once is empty.
struct ViewQuery {
  bool post = false;  // else GET
  std::string path;   // without the query
  std::string query;
  std::string host;
  std::string origin;
  std::string cookies;
  std::string authorization;
  std::string body;
  std::string peer;
};

struct ViewReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  std::shared_ptr<void> memory;  // what the body counts as, until it is sent; may be null
};

// What a transport serves. Called by its one thread.
class ViewSite {
 public:
  virtual ~ViewSite() = default;
  // Calls `done` once, here or from another thread.
  virtual void Answer(const ViewQuery& query, std::function<void(ViewReply)> done) = 0;
  // A page opens a socket; any thread calls `wake` when the transport may have something to send. When it is refused: the answer.
  virtual std::shared_ptr<ViewClient> Connect(const ViewQuery& query, std::function<void()> wake, ViewReply* refusal) = 0;
  // Whether a request shows that somebody with credentials sent it.
  virtual bool Knows(const ViewQuery& query) const = 0;
  // Whether a connection may go on, asked every tenth of a second.
  virtual bool Keep(ViewClient* client) = 0;
};

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_VIEW_VIEW_QUERY_H_
