#include "server/session/queue_full.h"

#include <gtest/gtest.h>

namespace eipc {
namespace {

TEST(QueueFull, IsKnownInOtherWords) {
  const absl::Status full = QueueFull("3 calls wait for a slot");
  EXPECT_EQ(full, QueueFull("3 calls wait for a slot"));
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(full.message(), "QUEUE_FULL: 3 calls wait for a slot");
  EXPECT_TRUE(IsQueueFull(full));
  const absl::Status longer = Reworded(full, "no slot (session at step 4)");
  EXPECT_EQ(longer.message(), "no slot (session at step 4)");
  EXPECT_EQ(longer.code(), full.code());
  EXPECT_TRUE(IsQueueFull(longer));
}

TEST(QueueFull, IsNotKnownByItsText) {
  EXPECT_FALSE(IsQueueFull(absl::OkStatus()));
  EXPECT_FALSE(IsQueueFull(absl::ResourceExhaustedError("QUEUE_FULL: someone else's")));
  EXPECT_FALSE(IsQueueFull(Reworded(absl::ResourceExhaustedError("MEMORY_BUDGET: too much"), "QUEUE_FULL: no")));
}

}  // namespace
}  // namespace eipc
