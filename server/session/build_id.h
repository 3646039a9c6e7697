#ifndef EIPC_SERVER_SESSION_BUILD_ID_H_
#define EIPC_SERVER_SESSION_BUILD_ID_H_

namespace eipc {

// 16 hex digits over the sources of the simulation, the compiler and its flags (cmake/WriteBuildId.cmake). Snapshots and recordings
// carry it: bits are promised between equal builds only.
const char* BuildId();

}  // namespace eipc

#endif  // EIPC_SERVER_SESSION_BUILD_ID_H_
