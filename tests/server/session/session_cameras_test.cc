#include "server/session/session_cameras.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <thread>

#include "tests/server/session/session_scenes.h"

namespace eipc {
namespace {

using ::testing::HasSubstr;

StepBudget Cancelled() {
  StepBudget budget;
  budget.cancelled = [] { return true; };
  return budget;
}

TEST(SessionCameras, AThreadThatWaitsForAnotherCanBeCancelled) {
  const auto model = testing::PressedBox();
  SessionCameras cameras(2);
  KeptMemory memory;
  for (const int world : {0, 1}) ASSERT_EQ(cameras.Prepare(world, *model, &memory, StepBudget()), absl::OkStatus());

  std::promise<void> drawing, may_end;
  std::thread first([&] {
    EXPECT_EQ(cameras.Draw(0, StepBudget(),
                           [&](CameraScene*) {
                             drawing.set_value();
                             may_end.get_future().wait();
                             return absl::OkStatus();
                           }),
              absl::OkStatus());
  });
  drawing.get_future().wait();
  const auto never = [](CameraScene*) { return absl::InternalError("drawn beside another thread"); };
  EXPECT_EQ(cameras.Draw(0, Cancelled(), never).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(cameras.Prepare(0, *model, &memory, Cancelled()).code(), absl::StatusCode::kCancelled);
  // Another world's scene is free.
  EXPECT_EQ(cameras.Draw(1, Cancelled(), [](CameraScene*) { return absl::OkStatus(); }), absl::OkStatus());
  may_end.set_value();
  first.join();
  EXPECT_EQ(cameras.Draw(0, StepBudget(), [](CameraScene*) { return absl::OkStatus(); }), absl::OkStatus());
}

TEST(SessionCameras, AWorldThatWasNotPreparedIsNotDrawn) {
  SessionCameras cameras(1);
  const absl::Status status = cameras.Draw(0, StepBudget(), [](CameraScene*) { return absl::OkStatus(); });
  EXPECT_THAT(std::string(status.message()), HasSubstr("not prepared"));
}

}  // namespace
}  // namespace eipc
