#include "sim/base/interrupt.h"

#include <gtest/gtest.h>

#include <thread>

namespace eipc {
namespace {

TEST(Interrupt, IsNeverRaisedWhereNobodyWatches) {
  Interrupt interrupt;
  EXPECT_FALSE(interrupt.Raised());
  EXPECT_TRUE(interrupt.Poll().ok());
  EXPECT_FALSE(Raised(nullptr));
}

// Work that was cut short must not be taken for a result because the source has changed its mind.
TEST(Interrupt, StaysRaisedUntilTheWatchEnds) {
  Interrupt interrupt;
  bool cancelled = false;
  {
    const Interrupt::Watch watch(&interrupt, [&] { return cancelled ? absl::CancelledError("enough") : absl::OkStatus(); });
    EXPECT_FALSE(Raised(&interrupt));
    cancelled = true;
    EXPECT_TRUE(interrupt.status().ok()) << "nobody has asked";
    EXPECT_TRUE(Raised(&interrupt));
    cancelled = false;
    EXPECT_TRUE(interrupt.Raised());
    EXPECT_EQ(interrupt.Poll().message(), "enough");
    EXPECT_EQ(interrupt.status().code(), absl::StatusCode::kCancelled);
  }
  EXPECT_FALSE(interrupt.Raised());
  EXPECT_TRUE(interrupt.Poll().ok() && interrupt.status().ok());
}

// A source need not be thread-safe.
TEST(Interrupt, OnlyTheOwnerAsks) {
  Interrupt interrupt;
  int asked = 0;
  const Interrupt::Watch watch(&interrupt, [&] {
    ++asked;
    return absl::CancelledError("");
  });
  bool raised_before = true, raised_after = false;
  std::thread([&] { raised_before = interrupt.Raised(); }).join();
  EXPECT_FALSE(raised_before);
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(interrupt.Raised());
  std::thread([&] { raised_after = interrupt.Raised(); }).join();
  EXPECT_TRUE(raised_after);
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace eipc
