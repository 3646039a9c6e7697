#ifndef EIPC_SERVER_OS_SPARE_DESCRIPTOR_H_
#define EIPC_SERVER_OS_SPARE_DESCRIPTOR_H_

#include <functional>

namespace eipc {

// Opens the descriptor that is held for this process. Once, early: it is too late when none is left.
void HoldSpareDescriptor();

// Returns what `work` returns, a system call's result with errno. When it fails because no descriptor is left, it is done again
// while the spare one is given up. It must have closed what it opened when it returns.
// It may fail once more: another thread can take the one that was given up.
int WithSpareDescriptor(const std::function<int()>& work);

}  // namespace eipc

#endif  // EIPC_SERVER_OS_SPARE_DESCRIPTOR_H_
