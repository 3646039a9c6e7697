#ifndef EIPC_SERVER_RPC_LISTEN_SOURCE_FILTER_H_
#define EIPC_SERVER_RPC_LISTEN_SOURCE_FILTER_H_

#include <string>
#include <vector>

namespace eipc::rpc {

// So many addresses can be dropped at once.
inline constexpr size_t kMostDroppedSources = 64;

// Has the kernel drop what comes for a listening socket from some addresses ("127.0.0.9", "::1"), so that their connections do not
// begin: they cost the process nothing, and who tries again waits for his own timer (a second, then two, four, ...). Sockets
// accepted from there have the filter of that moment: DropNothing. `sources` replace those before; those beyond
// kMostDroppedSources are not dropped. False when the kernel will not.
bool DropSources(int listener, const std::vector<std::string>& sources);
bool DropNothing(int socket);

}  // namespace eipc::rpc

#endif  // EIPC_SERVER_RPC_LISTEN_SOURCE_FILTER_H_
