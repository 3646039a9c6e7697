#ifndef EIPC_SERVER_CONVERT_MESSAGE_DIGEST_H_
#define EIPC_SERVER_CONVERT_MESSAGE_DIGEST_H_

#include <string>

namespace google::protobuf {
class MessageLite;
}  // namespace google::protobuf

namespace eipc {

// The SHA-256 of a message as it is on the wire, 64 hex digits. Messages without maps have one.
std::string MessageDigest(const google::protobuf::MessageLite& message);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_MESSAGE_DIGEST_H_
