#ifndef EIPC_TESTS_SUPPORT_INTERRUPTED_H_
#define EIPC_TESTS_SUPPORT_INTERRUPTED_H_

// Work that an interrupt ends, at one of its polls after another.

#include <gtest/gtest.h>

#include <functional>

#include "absl/status/status.h"
#include "sim/base/interrupt.h"

namespace eipc::testing {

using InterruptibleWork = std::function<absl::Status(Interrupt* interrupt)>;

// How the work ends when its interrupt is raised by poll number `at` (0: by none); the number of polls is left in *polls.
inline absl::Status EndAtPoll(int at, const InterruptibleWork& work, int* polls) {
  Interrupt interrupt;
  *polls = 0;
  const Interrupt::Watch watch(
      &interrupt, [polls, at] { return ++*polls == at ? absl::CancelledError("nobody waits for it") : absl::OkStatus(); });
  return work(&interrupt);
}

// The work polls at least `least` times when nothing ends it, and whichever of its polls raises the interrupt, it says so instead
// of returning a result.
inline void ExpectEndsWhenInterrupted(int least, const InterruptibleWork& work) {
  constexpr int kTries = 8;
  int in_all = 0, polls = 0;
  ASSERT_TRUE(EndAtPoll(0, work, &in_all).ok());
  EXPECT_GE(in_all, least);
  for (int i = 0; i <= kTries; ++i) {
    const int at = 1 + i * (in_all - 1) / kTries;
    const absl::Status status = EndAtPoll(at, work, &polls);
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << "poll " << at << " of " << in_all << ": " << status;
    EXPECT_EQ(polls, at);
  }
}

}  // namespace eipc::testing

#endif  // EIPC_TESTS_SUPPORT_INTERRUPTED_H_
