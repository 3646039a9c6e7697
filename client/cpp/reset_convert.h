#ifndef EIPC_CLIENT_CPP_RESET_CONVERT_H_
#define EIPC_CLIENT_CPP_RESET_CONVERT_H_

#include <string>
#include <vector>

#include "client/cpp/reset.h"
#include "eipc/v1/service.pb.h"

namespace eipc::client {

v1::ResetRequest ResetToProto(const std::string& session, const ResetOptions& options);

// What the server has to know for these options (ServerInfo.capabilities): an earlier one would ignore them.
std::vector<const char*> NeededCapabilities(const ResetOptions& options);

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_RESET_CONVERT_H_
