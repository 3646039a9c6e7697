#include "server/session/answer_room.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"

namespace eipc {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST(AnswerRoom, GivesATenantHalf) {
  AnswerRoom room(40 * kMiB);
  AnswerRoom::Share a(&room, "lab"), b(&room, "lab"), other(&room, "fab");
  EXPECT_TRUE(a.Reserve(15 * kMiB).ok());
  EXPECT_FALSE(b.Reserve(6 * kMiB).ok());
  EXPECT_TRUE(b.Reserve(5 * kMiB).ok());
  EXPECT_TRUE(other.Reserve(20 * kMiB).ok());
  EXPECT_EQ(room.used(), 40 * kMiB);
  a.SetTo(0);
  EXPECT_TRUE(b.Reserve(6 * kMiB).ok());
}

TEST(AnswerRoom, ATenantWithTooManyAlreadyIsRefusedAtOnce) {
  AnswerRoom room(40 * kMiB);
  AnswerRoom::Share made(&room, "lab"), next(&room, "lab");
  EXPECT_TRUE(next.Reserve(0).ok());
  made.SetTo(21 * kMiB);
  const absl::Status status = next.Reserve(0);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(absl::StartsWith(status.message(), "UNREAD_ANSWERS: ")) << status;
}

// Whatever others have left unread.
TEST(AnswerRoom, SmallAnswersAndTheOnlyOneAlwaysFit) {
  AnswerRoom room(4 * kMiB);
  AnswerRoom::Share full(&room, "lab"), small(&room, "fab"), more(&room, "fab"), only(&room, "pub");
  full.SetTo(100 * kMiB);
  EXPECT_TRUE(small.Reserve(kMiB / 2).ok());
  EXPECT_TRUE(more.Reserve(kMiB / 2).ok());
  EXPECT_FALSE(more.Reserve(1).ok());
  EXPECT_TRUE(only.Reserve(50 * kMiB).ok());
  EXPECT_TRUE(only.Reserve(50 * kMiB).ok()) << "a batch has the answers of many worlds";
}

TEST(AnswerRoom, GivesBackWhatACallHeld) {
  AnswerRoom room(40 * kMiB);
  {
    AnswerRoom::Share share(&room, "lab");
    EXPECT_TRUE(share.Reserve(3 * kMiB).ok());
    EXPECT_TRUE(share.Reserve(4 * kMiB).ok());
    EXPECT_EQ(room.used(), 7 * kMiB);
    share.SetTo(2 * kMiB);
    EXPECT_EQ(room.used(), 2 * kMiB);
  }
  EXPECT_EQ(room.used(), 0);
}

}  // namespace
}  // namespace eipc
