#ifndef EIPC_SERVER_CONVERT_WIRE_CHECK_H_
#define EIPC_SERVER_CONVERT_WIRE_CHECK_H_

#include <string>

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace eipc {

class Problems;

// What holds for every field of every message: numbers are finite, enum values are known. Adds a problem with its path for each
// that is not, e.g. `bodies[2].material.youngs_modulus_pa: must be finite, got nan`.
void CheckFiniteAndKnown(const google::protobuf::Message& message, const std::string& path, Problems* problems);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_WIRE_CHECK_H_
