#include "server/convert/message_digest.h"

#include "absl/strings/escaping.h"
#include "server/convert/hash_stream.h"

namespace eipc {

std::string MessageDigest(const google::protobuf::MessageLite& message) {
  Sha256 hash;
  AddMessage(message, &hash);
  return absl::BytesToHexString(hash.Finish());
}

}  // namespace eipc
