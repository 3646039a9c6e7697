#include "server/rpc/listen/call_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace eipc::rpc {
namespace {

using ::testing::ElementsAre;

TEST(CallGate, KeepsATenantFromHoldingEveryPlace) {
  CallGate gate(3, 2);
  const auto first = gate.TryEnter("lab"), second = gate.TryEnter("lab");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(gate.TryEnter("lab"));
  const auto other = gate.TryEnter("fab");
  EXPECT_TRUE(other);
  EXPECT_FALSE(gate.TryEnter("pub")) << "full";
  EXPECT_EQ(gate.inside(), 3);
}

TEST(CallGate, KeepsViewersFromTheHalfOfTheOperators) {
  CallGate gate(100, 4);
  std::vector<CallGate::Place> viewers;
  for (int i = 0; i < 5; ++i) gate.Enter("lab", true, [&](CallGate::Place place) { viewers.push_back(std::move(place)); });
  EXPECT_EQ(viewers.size(), 2);
  EXPECT_FALSE(gate.TryEnter("lab", true));
  EXPECT_TRUE(gate.TryEnter("fab", true)) << "those of another tenant";
  std::vector<CallGate::Place> operators;
  while (auto place = gate.TryEnter("lab")) operators.push_back(*std::move(place));
  EXPECT_EQ(operators.size(), 2);
  viewers.front().Leave();
  EXPECT_EQ(viewers.size(), 3) << "one that waited takes the place";
  while (gate.waiting() + gate.inside() > 0) {
    std::vector<CallGate::Place> leaving;
    leaving.swap(viewers);
    operators.clear();
  }
}

TEST(CallGate, LetsThoseWhoWaitInInOrder) {
  CallGate gate(2, 1);
  std::vector<std::string> order;
  std::vector<CallGate::Place> places;
  const auto enter = [&](const std::string& tenant, const std::string& name) {
    gate.Enter(tenant, false, [&, name](CallGate::Place place) {
      order.push_back(name);
      places.push_back(std::move(place));
    });
  };
  enter("lab", "lab1");
  enter("lab", "lab2");
  enter("lab", "lab3");
  enter("fab", "fab1");
  enter("fab", "fab2");
  EXPECT_THAT(order, ElementsAre("lab1", "fab1")) << "a tenant at its bound lets others pass";
  EXPECT_EQ(gate.waiting(), 3);
  std::exchange(places[0], CallGate::Place()).Leave();
  EXPECT_THAT(order, ElementsAre("lab1", "fab1", "lab2"));
  while (gate.inside() > 0) {
    std::vector<CallGate::Place> leaving;
    leaving.swap(places);
  }
  EXPECT_THAT(order, ElementsAre("lab1", "fab1", "lab2", "fab2", "lab3"));
  EXPECT_EQ(gate.waiting(), 0);
}

}  // namespace
}  // namespace eipc::rpc
