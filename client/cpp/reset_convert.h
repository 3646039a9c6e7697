#ifndef EIPC_CLIENT_CPP_RESET_CONVERT_H_
#define EIPC_CLIENT_CPP_RESET_CONVERT_H_

#include <string>

#include "client/cpp/reset.h"
#include "eipc/v1/service.pb.h"

namespace eipc::client {

v1::ResetRequest ResetToProto(const std::string& session, const ResetOptions& options);

}  // namespace eipc::client

#endif  // EIPC_CLIENT_CPP_RESET_CONVERT_H_
