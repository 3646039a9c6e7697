#include "server/rpc/listen/message_room.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace eipc::rpc {
namespace {

using std::chrono::hours;
using Clock = MessageRoom::Clock;

class Asker {
 public:
  void Ask(MessageRoom* room, const std::string& tenant, int64_t bytes) {
    room->Take(tenant, bytes, hours(1), [this](absl::StatusOr<MessageRoom::Share> share) { answer = std::move(share); });
  }
  bool has() const { return answer && answer->ok(); }
  std::optional<absl::StatusOr<MessageRoom::Share>> answer;
};

TEST(MessageRoom, LetsOthersWaitUntilThereIsRoom) {
  MessageRoom room(100);
  Asker a, b, c;
  a.Ask(&room, "lab", 40);
  b.Ask(&room, "fab", 40);
  c.Ask(&room, "pub", 40);
  EXPECT_TRUE(a.has() && b.has());
  EXPECT_FALSE(c.answer);
  a.answer.reset();
  EXPECT_TRUE(c.has());
  EXPECT_EQ(room.used(), 80);
}

TEST(MessageRoom, GivesATenantHalf) {
  MessageRoom room(100);
  Asker a, b, other;
  a.Ask(&room, "lab", 40);
  b.Ask(&room, "lab", 40);
  EXPECT_FALSE(b.answer);
  other.Ask(&room, "fab", 40);
  EXPECT_TRUE(other.has());
}

TEST(MessageRoom, RefusesThoseThatWaitForTooLong) {
  MessageRoom room(10);
  Asker a, b, c;
  a.Ask(&room, "lab", 10);
  b.Ask(&room, "fab", 10);
  room.Expire(Clock::now());
  EXPECT_FALSE(b.answer);
  room.Expire(Clock::now() + hours(2));
  ASSERT_TRUE(b.answer);
  EXPECT_EQ(b.answer->status().code(), absl::StatusCode::kResourceExhausted);
  room.Stop();
  c.Ask(&room, "pub", 10);
  EXPECT_TRUE(c.answer && !c.answer->ok());
}

TEST(MessageRoom, TakesAMessageLargerThanAllOfItAlone) {
  MessageRoom room(10);
  Asker a, b;
  a.Ask(&room, "lab", 50);
  EXPECT_TRUE(a.has());
  b.Ask(&room, "fab", 1);
  EXPECT_FALSE(b.answer);
}

}  // namespace
}  // namespace eipc::rpc
