#include "server/session/lease_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace eipc {
namespace {

using ::testing::StartsWith;

using Table = LeaseTable<int>;

Table::Options Small(int capacity) { return {"thing", "things/", "THING", capacity, 16}; }

TEST(LeaseTable, NamesAreNeverUsedTwice) {
  Table table(Small(1));
  std::set<std::string> names;
  for (int i = 0; i < 50; ++i) {
    const auto name = table.Add(std::make_unique<int>(i));
    ASSERT_TRUE(name.ok());
    EXPECT_THAT(*name, StartsWith("things/"));
    EXPECT_TRUE(names.insert(*name).second);
    ASSERT_TRUE(table.Remove(*name, {}).ok());
  }
  for (const std::string& name : names) EXPECT_EQ(table.Acquire(name, {}).status().code(), absl::StatusCode::kNotFound);
}

TEST(LeaseTable, AStaleNameDoesNotReachTheNextInItsSlot) {
  Table table(Small(1));
  const std::string old_name = *table.Add(std::make_unique<int>(1));
  ASSERT_TRUE(table.Remove(old_name, {}).ok());
  const std::string new_name = *table.Add(std::make_unique<int>(2));
  EXPECT_EQ(table.Acquire(old_name, {}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(table.Remove(old_name, {}).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(**table.Acquire(new_name, {}), 2);
}

TEST(LeaseTable, OddNamesAreNotFound) {
  Table table(Small(2));
  const std::string name = *table.Add(std::make_unique<int>(1));
  for (const std::string& odd :
       {std::string(), std::string("things/"), std::string("things/0"), std::string("things/99999999999-1-x"),
        std::string("things/-1-1-x"), std::string("others/") + name.substr(7), name + "0", std::string("\xff\n")}) {
    const absl::Status status = table.Acquire(odd, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << odd;
    EXPECT_THAT(std::string(status.message()), StartsWith("THING_NOT_FOUND: no thing named '"));
    EXPECT_EQ(std::string(status.message()).find('\n'), std::string::npos);
  }
}

TEST(LeaseTable, RefusesWhenFull) {
  Table table(Small(2));
  ASSERT_TRUE(table.Add(std::make_unique<int>(1)).ok());
  ASSERT_TRUE(table.CheckRoom().ok());
  const std::string second = *table.Add(std::make_unique<int>(2));
  EXPECT_EQ(table.CheckRoom().code(), absl::StatusCode::kResourceExhausted);
  const absl::Status full = table.Add(std::make_unique<int>(3)).status();
  EXPECT_EQ(full.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(full.message()), StartsWith("TOO_MANY_THINGS: "));
  ASSERT_TRUE(table.Remove(second, {}).ok());
  EXPECT_TRUE(table.Add(std::make_unique<int>(4)).ok());
}

TEST(LeaseTable, AReservedNameTakesRoomButNobodySeesIt) {
  Table table(Small(1));
  std::string name;
  {
    const auto reservation = table.Reserve("lab");
    ASSERT_TRUE(reservation.ok());
    name = reservation->name();
    EXPECT_EQ(table.Reserve().status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(table.Acquire(name, {}, "lab").status().code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(table.Remove(name, {}, "lab").code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(table.Peek(name, "lab"), nullptr);
    EXPECT_TRUE(table.All().empty());
  }
  EXPECT_TRUE(table.CheckRoom().ok());
  EXPECT_NE(table.Reserve()->name(), name);
}

// What was just made can be removed at once, and stays alive until its maker is done with it.
TEST(LeaseTable, PublishingLeasesToTheMaker) {
  Table table(Small(1));
  auto reservation = table.Reserve();
  const std::string name = reservation->name();
  std::thread remover;
  {
    const Table::Lease made = table.Publish(*std::move(reservation), std::make_unique<int>(7));
    EXPECT_EQ(made.name(), name);
    remover = std::thread([&] { EXPECT_TRUE(table.Remove(name, {}).ok()); });
    while (!made.removed()) std::this_thread::yield();
    EXPECT_EQ(*made, 7);
    EXPECT_EQ(table.size(), 0);
  }
  remover.join();
}

struct Used {
  int touches = 0;
  void Touch() { ++touches; }
};

// A call counts as use when it ends, too: how long it took is not idle time.
TEST(LeaseTable, TheEndOfALeaseIsAUse) {
  LeaseTable<Used> table({"thing", "things/", "THING", 1, 16});
  const std::string name = *table.Add(std::make_unique<Used>());
  const int before = table.Peek(name)->touches;
  {
    const auto lease = table.Acquire(name, {});
    ASSERT_TRUE(lease.ok());
    EXPECT_EQ((*lease)->touches, before);
  }
  EXPECT_EQ(table.Peek(name)->touches, before + 1);
}

TEST(LeaseTable, OnlyWhatNobodyUsesIsRemovedAsIdle) {
  Table table(Small(1));
  const std::string name = *table.Add(std::make_unique<int>(7));
  const auto always = [](const int&) { return true; };
  {
    const auto lease = table.Acquire(name, {});
    EXPECT_EQ(table.RemoveIdle(name, "", always).code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_FALSE(lease->removed());
  }
  EXPECT_EQ(table.RemoveIdle(name, "", [](const int&) { return false; }).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(table.Acquire(name, {}).ok()) << "nothing has happened to it";
  EXPECT_TRUE(table.RemoveIdle(name, "", always).ok());
  EXPECT_EQ(table.RemoveIdle(name, "", always).code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(table.size(), 0);
}

TEST(LeaseTable, OneLeaseAtATime) {
  Table table(Small(1));
  const std::string name = *table.Add(std::make_unique<int>(0));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const auto lease = table.Acquire(name, {});
        ASSERT_TRUE(lease.ok());
        ++**lease;  // a data race unless leases exclude one another
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(**table.Acquire(name, {}), 8 * 500);
}

TEST(LeaseTable, RemovingTellsTheHolderAndWaitsForIt) {
  Table table(Small(1));
  const std::string name = *table.Add(std::make_unique<int>(7));
  std::atomic<bool> holding = false;
  std::atomic<bool> left = false;
  std::thread holder([&] {
    const auto lease = table.Acquire(name, {});
    ASSERT_TRUE(lease.ok());
    holding = true;
    while (!lease->removed()) std::this_thread::yield();
    EXPECT_EQ(**lease, 7);  // still alive
    left = true;
  });
  while (!holding) std::this_thread::yield();
  EXPECT_TRUE(table.Remove(name, {}).ok());
  EXPECT_TRUE(left);
  EXPECT_EQ(table.size(), 0);
  holder.join();
}

TEST(LeaseTable, RemovingTurnsWaitersAway) {
  Table table(Small(1));
  const std::string name = *table.Add(std::make_unique<int>(7));
  auto lease = std::make_unique<Table::Lease>(*table.Acquire(name, {}));
  std::thread waiter([&] {
    const absl::Status status = table.Acquire(name, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  });
  StepBudget impatient;
  impatient.cancelled = [] { return true; };
  EXPECT_EQ(table.Remove(name, impatient).code(), absl::StatusCode::kCancelled);
  waiter.join();
  EXPECT_TRUE(lease->removed());
}

// Threads create, use and delete things of one another; a thread that gets a lease holds a live thing, alone.
TEST(LeaseTable, SurvivesChurn) {
  struct Thing {
    int users = 0;
    int id = 0;
  };
  LeaseTable<Thing> table({"thing", "things/", "THING", 4, 64});
  std::mutex mutex;
  std::vector<std::string> names;
  std::atomic<int> used = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        std::string name;
        {
          const std::lock_guard<std::mutex> lock(mutex);
          if (!names.empty()) name = names[(t * 31 + i) % names.size()];
        }
        const int action = (t + i) % 4;
        if (action == 0) {
          const auto added = table.Add(std::make_unique<Thing>());
          const std::lock_guard<std::mutex> lock(mutex);
          if (added.ok()) names.push_back(*added);
        } else if (action == 1) {
          if (table.Remove(name, {}).ok()) {
            const std::lock_guard<std::mutex> lock(mutex);
            std::erase(names, name);
          }
        } else if (const auto lease = table.Acquire(name, {}); lease.ok()) {
          EXPECT_EQ((*lease)->users++, 0);
          std::this_thread::yield();
          EXPECT_EQ(--(*lease)->users, 0);
          ++used;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(table.size(), static_cast<int>(names.size()));
  EXPECT_GT(used, 0);
}

}  // namespace
}  // namespace eipc
