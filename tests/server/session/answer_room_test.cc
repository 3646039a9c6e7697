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
  EXPECT_TRUE(more.Reserve(kMiB).ok()) << "the only one beside small ones";
  EXPECT_FALSE(small.Reserve(1).ok());
  EXPECT_TRUE(only.Reserve(50 * kMiB).ok());
  EXPECT_TRUE(only.Reserve(50 * kMiB).ok()) << "a batch has the answers of many worlds";
}

// Who asks for one answer after the other is not refused because of the one before.
TEST(AnswerRoom, ALargeAnswerFitsBesideOneThatWasReadJustNow) {
  AnswerRoom room(4 * kMiB);
  AnswerRoom::Share read(&room, "lab"), large(&room, "lab"), another(&room, "lab");
  read.SetTo(8540);
  EXPECT_TRUE(large.Reserve(70 * kMiB).ok());
  EXPECT_FALSE(another.Reserve(70 * kMiB).ok());
}

TEST(AnswerRoom, NoCallReservesMoreThanCanBeSent) {
  AnswerRoom room(4 * kMiB);
  AnswerRoom::Share only(&room, "lab");
  EXPECT_TRUE(only.Reserve(AnswerRoom::kMostOfCall - 1).ok());
  const absl::Status status = only.Reserve(2);
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
  EXPECT_TRUE(absl::StartsWith(status.message(), "ANSWER_TOO_LARGE: ")) << status;
  EXPECT_TRUE(only.Reserve(1).ok()) << "what was refused takes nothing";
}

TEST(AnswerRoom, PartsOfAnAnswerCountInTheBudgetUntilItExists) {
  AnswerRoom room(4 * kMiB);
  MemoryBudget budget(10 * kMiB, 0);
  {
    AnswerRoom::Share share(&room, "lab");
    EXPECT_TRUE(share.Take(6 * kMiB, "pictures", &budget).ok());
    const absl::Status status = share.Take(6 * kMiB, "pictures", &budget);
    EXPECT_TRUE(absl::StartsWith(status.message(), "MEMORY_BUDGET: ")) << status;
    EXPECT_TRUE(share.Take(3 * kMiB, "pictures", &budget).ok());
    EXPECT_EQ(budget.used(), 9 * kMiB);
    share.SetTo(kMiB);
    EXPECT_EQ(budget.used(), 0);
    EXPECT_TRUE(share.Take(2 * kMiB, "pictures", &budget).ok());
  }
  EXPECT_EQ(budget.used(), 0);
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
