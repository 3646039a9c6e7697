#ifndef EIPC_SERVER_RPC_VIEW_VIEW_PAGE_H_
#define EIPC_SERVER_RPC_VIEW_VIEW_PAGE_H_

#include <string>

#include "server/rpc/view/view_query.h"

namespace eipc::rpc {

// The built page: index.html, viewer.js and viewer.css, read once. Where it was not built there is a page that says so.
class ViewPage {
 public:
  // `folder` empty: the first that has the page of viz/live beside the folder of this program (wheel), client/python/eipc/viz/live
  // of the checkout it was built in, and share/eipc/viewer (images).
  static ViewPage Load(const std::string& folder);

  bool built() const { return !script_.empty(); }
  // "/", "/viewer.js", "/viewer.css"; else false.
  bool Answer(const std::string& path, ViewReply* reply) const;

 private:
  std::string html_;
  std::string script_;
  std::string style_;
};

// Headers of every answer: nothing runs or is fetched but what the server itself serves as a file, and no other page frames this
// one.
void AddSafetyHeaders(ViewReply* reply);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_VIEW_VIEW_PAGE_H_
