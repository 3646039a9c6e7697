#ifndef EIPC_TESTS_SUPPORT_AWAIT_H_
#define EIPC_TESTS_SUPPORT_AWAIT_H_

#include <chrono>
#include <thread>

namespace eipc::testing {

// Waits for what another process does: returns once `holds` does, or false after a time that no working machine needs. Within one
// process a condition variable says so.
template <typename Condition>
bool Await(const Condition& holds) {
  constexpr std::chrono::milliseconds kPause(2);
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_AWAIT_H_
