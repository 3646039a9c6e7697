#ifndef EIPC_SERVER_CONVERT_SHELL_CONVERT_H_
#define EIPC_SERVER_CONVERT_SHELL_CONVERT_H_

#include "sim/scene/shell_spec.h"
#include "sim/sensor/shell_reading.h"

namespace eipc::v1 {
class ShellBody;
class ShellReading;
}  // namespace eipc::v1

namespace eipc {

// All but the meshes.
ShellSpec ShellFromProto(const v1::ShellBody& message);
// `float32`: element type of the arrays.
void ShellReadingToProto(const ShellReading& reading, bool float32, v1::ShellReading* out);

}  // namespace eipc

#endif  // EIPC_SERVER_CONVERT_SHELL_CONVERT_H_
