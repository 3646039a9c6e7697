#ifndef EIPC_SERVER_AGONES_SDK_H_
#define EIPC_SERVER_AGONES_SDK_H_

#include <chrono>
#include <string>
#include <utility>

#include "absl/status/status.h"

namespace eipc {

// Calls of the Agones SDK's HTTP interface (https://agones.dev/site/docs/guides/client-sdks/rest/): a POST to the sidecar of the
// pod.
class AgonesSdk {
 public:
  AgonesSdk(std::string host, int port) : host_(std::move(host)), port_(port) {}

  // Posts {} to a path such as "/ready". UNAVAILABLE when nobody answers within `limit`, or with another status than 2xx.
  absl::Status Post(const std::string& path, std::chrono::milliseconds limit) const;

 private:
  const std::string host_;
  const int port_;
};

}  // namespace eipc

#endif  // EIPC_SERVER_AGONES_SDK_H_
