#include "server/rpc/view/view_crowd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace eipc::rpc {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ViewCrowdTest : public ::testing::Test {
 protected:
  // A connection with this name.
  std::shared_ptr<ViewCrowd::Seat> Enter(const std::string& address, const std::string& name) {
    std::shared_ptr<ViewCrowd::Seat> seat = crowd_.Enter(address, [this, name] { closed_.push_back(name); });
    if (seat != nullptr) seats_.push_back(seat);
    return seat;
  }

  ViewCrowd crowd_{{.all = 6, .strangers = 4, .strangers_of_address = 2}};
  std::vector<std::string> closed_;
  std::vector<std::shared_ptr<ViewCrowd::Seat>> seats_;
};

TEST_F(ViewCrowdTest, AnAddressClosesItsOwnOldest) {
  for (const char* name : {"a1", "a2"}) Enter("a", name);
  Enter("b", "b1");
  EXPECT_THAT(closed_, IsEmpty());
  EXPECT_NE(Enter("a", "a3"), nullptr);
  EXPECT_THAT(closed_, ElementsAre("a1"));
  EXPECT_EQ(crowd_.size(), 3);
}

TEST_F(ViewCrowdTest, StrangersCloseTheOldestOfTheAddressWithMost) {
  Enter("b", "b1");
  for (const char* name : {"a1", "a2"}) Enter("a", name);
  Enter("c", "c1");
  EXPECT_NE(Enter("d", "d1"), nullptr);
  EXPECT_THAT(closed_, ElementsAre("a1"));
}

TEST_F(ViewCrowdTest, ThoseThatAreKnownAreNeverClosedAndLeaveStrangersTheirPlaces) {
  for (const char* name : {"k1", "k2", "k3", "k4"}) Enter("a", name)->SetKnown(true);
  for (const char* name : {"s1", "s2", "s3"}) EXPECT_NE(Enter("a", name), nullptr);
  EXPECT_THAT(closed_, ElementsAre("s1"));
  // Four are known; s2 and s3 are strangers, whose places the two that come now take.
  for (const char* name : {"s4", "s5"}) Enter("b", name)->SetKnown(true);
  EXPECT_THAT(closed_, ElementsAre("s1", "s2", "s3"));
  EXPECT_EQ(Enter("b", "s6"), nullptr) << "those that are known have all places";
  seats_.front().reset();
  EXPECT_NE(Enter("b", "s7"), nullptr);
}

// A connection may carry requests of several callers: a proxy's.
TEST_F(ViewCrowdTest, OneThatIsNotKnownAnyMoreMayBeClosed) {
  const auto seat = Enter("a", "a1");
  seat->SetKnown(true);
  seat->SetKnown(false);
  for (const char* name : {"a2", "a3"}) Enter("a", name);
  EXPECT_THAT(closed_, ElementsAre("a1"));
}

TEST_F(ViewCrowdTest, WhoLeavesGivesItsPlaceBack) {
  Enter("a", "a1");
  seats_.clear();
  EXPECT_EQ(crowd_.size(), 0);
  for (const char* name : {"a2", "a3"}) Enter("a", name);
  EXPECT_THAT(closed_, IsEmpty());
}

}  // namespace
}  // namespace eipc::rpc
